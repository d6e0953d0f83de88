/**
 * A server that writes traces as the `OTEL_*` variables say: answers one call that belongs to a caller's trace and
 * one that fails, sends what it has, and prints the warnings of its log. Argument: a folder.
 */
import { MemorydError } from "../../src/kernel/errors.js";
import { startTracing } from "../../src/server/tracing.js";
import { openTestServer, recordingLog, token } from "./support.js";

const { log, lines } = recordingLog();
const tracing = await startTracing("0.0.0", log);
const server = await openTestServer(process.argv[2] ?? "", {
  handlers: {
    deleteMemory: () => {
      throw new MemorydError("unavailable", "The disk is full.");
    },
  },
  parts: { tracing },
});
const call = (method: string, headers: Record<string, string>) =>
  fetch(`${server.url}/magus.memory.v1.MemoryService/${method}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
    body: "{}",
  });
const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const statuses = [
  (await call("GetCursor", { traceparent, "x-request-id": "traced" })).status,
  (await call("DeleteMemory", {})).status,
];
await fetch(`${server.url}/livez`);
await server.stop(1_000);
await tracing?.close();
process.stdout.write(`${JSON.stringify({ statuses, warnings: lines.map(({ message }) => message) })}\n`);
