/**
 * The package's public entry, and its one barrel: what programs may build on. Typed clients over any
 * transport, a daemon that is found or started, and memoryd in the caller's own process.
 */
export {
  type App,
  type AppOptions,
  createApp,
  createMemorydTransport,
  type MemorydTransport,
} from "./app.js";
export { createMemorydClients, type MemorydClients } from "./client/clients.js";
export { type EnsureDaemonOptions, ensureDaemon } from "./client/ensure.js";
export { type Daemon, findDaemon } from "./client/find.js";
export { createHttpTransport, createSocketTransport } from "./client/transport.js";
export { type Config, type ConfigInput, loadConfig } from "./config/load.js";
export { type ErrorCode, type FieldViolation, MemorydError } from "./kernel/errors.js";
export { type Log, silentLog } from "./kernel/log.js";
