/**
 * A program that needs the daemon once: `ensure-once FOLDER COMMAND…` waits for standard input to end, calls
 * ensureDaemon(), makes one RPC and prints the answer. Many of them started beforehand go off together.
 */
import { createMemorydClients } from "../../src/client/clients.js";
import { ensureDaemon } from "../../src/client/ensure.js";
import { loadConfig } from "../../src/config/load.js";

const [folder, timeoutMs, ...command] = process.argv.slice(2);
for await (const _ of process.stdin) {
  // Only the end counts.
}
const config = loadConfig({ flags: { data_dir: folder, "client.start_timeout_ms": timeoutMs } });
const daemon = await ensureDaemon(command.length === 0 ? { config } : { config, command });
const { content } = await createMemorydClients(daemon.transport).memory.getCursor({});
process.stdout.write(JSON.stringify({ pid: daemon.pid, content }));
// Not closed: an idle connection must not keep a program running.
