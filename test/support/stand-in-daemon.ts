/**
 * A small daemon for the tests of the client: real listeners, the real lock, token, proof and discovery file,
 * one RPC that answers with the process id. It can do what `memoryd serve` never should: be slow, silent, or
 * break at the start. Run as `stand-in-daemon [how] serve --data-dir FOLDER …`.
 */
import { appendFileSync, chmodSync, rmSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { MemoryService } from "../../gen/magus/memory/v1/memory_pb.js";
import { removeDiscovery, writeDiscovery, writeStartFailure } from "../../src/config/discovery.js";
import { loadConfig } from "../../src/config/load.js";
import { challengeHeader, instanceHeader, proofFrom, proofHeader } from "../../src/config/proof.js";
import { ensureOperatorToken } from "../../src/config/token.js";
import { acquireOwnership } from "../../src/db/sqlite/ownership.js";
import { systemClock } from "../../src/kernel/clock.js";
import { isMemorydError } from "../../src/kernel/errors.js";
import { randomHex } from "../../src/kernel/ids.js";

/** Stands for the crash of a test that could not clean up. */
const longestLifeMs = 120_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    "data-dir": { type: "string" },
    "log-file": { type: "string" },
    "port-fallback": { type: "boolean" },
    // How to misbehave.
    "slow-ms": { type: "string", default: "0" },
    "fail-with": { type: "string" },
    "break-at-once": { type: "boolean" },
    "no-socket": { type: "boolean" },
    "no-tcp": { type: "boolean" },
    "without-token": { type: "boolean" },
  },
});

if (positionals[0] !== "serve" || values["break-at-once"]) process.exit(7);
setTimeout(() => process.exit(8), longestLifeMs).unref();

const config = loadConfig({ flags: { data_dir: values["data-dir"], "log.file": values["log-file"] } });
const { paths } = config;
const fail = (reason: string, message: string): never => {
  writeStartFailure(paths.startFailureFile, { at: systemClock.nowMs(), reason, message });
  process.exit(9);
};

appendFileSync(join(paths.stateDir, "spawned"), `${process.pid}\n`);
if (values["fail-with"] !== undefined) fail(values["fail-with"], "It was told to fail.");
try {
  acquireOwnership(paths.databaseFile ?? "");
} catch (error) {
  if (isMemorydError(error)) fail(error.reason, error.message);
  throw error;
}
await sleep(Number(values["slow-ms"]));

const token = ensureOperatorToken(paths.tokenFile);
const instance = randomHex(16);
const rpc = connectNodeAdapter({
  routes: (router) =>
    router.service(MemoryService, {
      getCursor: (_request, { requestHeader }) => ({
        content: JSON.stringify({
          pid: process.pid,
          authorization: requestHeader.get("authorization"),
          workspace: requestHeader.get("memoryd-workspace"),
          inherited: ["NODE_OPTIONS", "MEMORYD_TOKEN"].filter((name) => name in process.env),
          maxRecords: config.memory.maxRecords,
          folder: process.cwd(),
          logFile: config.log.file,
        }),
      }),
    }),
});
const handle =
  (needsToken: boolean): RequestListener =>
  (request, response) => {
    if (request.url === "/livez") {
      const challenge = request.headers[challengeHeader];
      response.setHeader(instanceHeader, instance);
      if (typeof challenge === "string" && !values["without-token"]) {
        response.setHeader(proofHeader, proofFrom(token, challenge));
      }
      response.end("ok");
    } else if (needsToken && request.headers.authorization !== `Bearer ${token}`) {
      response.writeHead(401).end();
    } else if (request.url === "/status") {
      response.end(JSON.stringify({ pid: process.pid }));
    } else {
      rpc(request, response);
    }
  };

const tcp = createServer(handle(!values["without-token"]));
if (!values["no-tcp"]) await new Promise<void>((resolve) => tcp.listen(0, "127.0.0.1", resolve));
const unix = createServer(handle(false));
const { socketFile } = paths;
if (!values["no-socket"] && socketFile !== undefined) {
  rmSync(socketFile, { force: true });
  await new Promise<void>((resolve) => unix.listen(socketFile, resolve));
  chmodSync(socketFile, 0o600);
}

appendFileSync(join(paths.stateDir, "ready"), `${process.pid}\n`);
writeDiscovery(paths.discoveryFile, {
  ...(values["no-tcp"] ? {} : { url: `http://127.0.0.1:${(tcp.address() as AddressInfo).port}` }),
  ...(values["no-socket"] || socketFile === undefined ? {} : { socket: socketFile }),
  pid: process.pid,
  startTime: new Date(systemClock.nowMs()).toISOString(),
  version: "0.0.0",
  instance,
  ...(values["without-token"] ? { withoutToken: true } : {}),
});
process.on("SIGTERM", () => {
  removeDiscovery(paths.discoveryFile, instance);
  process.exit(0);
});
