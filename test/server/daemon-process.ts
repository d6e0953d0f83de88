/**
 * A daemon with a stub for a service and for a storage, as a process of its own that can be signalled. Prints a
 * JSON line for each thing that happens. Arguments: a folder, and the flags of its configuration as JSON.
 * GetCursor is never answered; DeleteMemory makes the process fail outside of any call.
 */
import { existsSync } from "node:fs";
import { readDiscovery } from "../../src/config/discovery.js";
import { runDaemon } from "../../src/server/lifecycle.js";
import { startServer } from "../../src/server/server.js";
import { createCallInterceptor } from "../../src/wire/connect.js";
import { configFor, recordingLog, stubRoutes, token } from "./support.js";

const [folder = "", flags = "{}"] = process.argv.slice(2);
const config = configFor(folder, JSON.parse(flags));
const say = (event: string, more: object = {}): void => {
  process.stdout.write(`${JSON.stringify({ event, ...more })}\n`);
};

const { log, lines } = recordingLog();
const server = await startServer({
  config,
  log,
  clock: { nowMs: () => 0 },
  version: "0.0.0",
  instance: "this-one",
  operator: { user: "ada", right: "admin" },
  operatorToken: token,
  registerRoutes: stubRoutes({
    getCursor: () => {
      say("called");
      return new Promise(() => {});
    },
    deleteMemory: () => {
      setImmediate(() => {
        throw new Error("nobody catches this");
      });
      return {};
    },
  }),
  interceptors: [createCallInterceptor(log)],
  exposedHeaders: [],
  allowedHeaders: [],
  components: [],
  status: async () => ({}),
  gauges: [],
});
const { url, socket } = server;
process.on("exit", (code) =>
  say("exit", { code, errors: lines.filter(({ level }) => level === "error").length }),
);
const reason = await runDaemon({
  config,
  log,
  server,
  discovery: {
    ...(url === undefined ? {} : { url }),
    ...(socket === undefined ? {} : { socket }),
    pid: process.pid,
    startTime: "2026-01-01T00:00:00Z",
    version: "0.0.0",
    instance: "this-one",
  },
  closeStorage: async () => {
    say("storage closes", {
      isFound: readDiscovery(config.paths.discoveryFile) !== undefined,
      hasSocket: existsSync(config.paths.socketFile ?? ""),
    });
  },
  onReady: (discovery) => say("ready", discovery),
  parentProcessId: process.ppid,
});
say("stopped", { reason });
