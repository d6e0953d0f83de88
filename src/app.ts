/**
 * The one file that knows every part: configuration -> storages -> services -> routes. What listens on them
 * is started by `daemon.ts`; programs that embed memoryd use the transport, which calls the same handlers
 * without a socket (daemon.md D17).
 */
import { userInfo } from "node:os";
import {
  type ConnectRouter,
  createRouterTransport,
  type Interceptor,
  type Transport,
} from "@connectrpc/connect";
import { type Config, loadConfig } from "./config/load.js";
import { memorydVersion } from "./config/version.js";
import { openSqliteStorages } from "./engines/sqlite.js";
import type { Storages } from "./engines/storages.js";
import type { Caller } from "./kernel/caller.js";
import { type Clock, systemClock } from "./kernel/clock.js";
import { type Log, silentLog } from "./kernel/log.js";
import { registerMemoryRoutes } from "./memory/rpc.js";
import { createMemoryService, type MemoryService } from "./memory/service.js";
import { slug } from "./memsync/slug.js";
import { createCallInterceptor } from "./wire/connect.js";

export type AppOptions = { readonly log?: Log; readonly clock?: Clock };

/** memoryd without a listener. Close it, or hold it with `await using`. */
export type App = AsyncDisposable & {
  readonly config: Config;
  readonly storages: Storages;
  readonly memory: MemoryService;
  /** Who the operator token, the socket and the calls in process act as. */
  readonly operator: Caller;
  readonly registerRoutes: (router: ConnectRouter) => void;
  readonly interceptors: readonly Interceptor[];
  /** Calls the handlers in this process, as the operator. */
  readonly transport: Transport;
  /** Answers the writes that wait, then lets go of the database. */
  readonly close: () => Promise<void>;
};

const sweepEveryMs = 60 * 60 * 1_000;

/** The operating system's user as a slug; `operator` when its name has no letter or digit (daemon.md D24). */
function operatorName(): string {
  try {
    return slug(userInfo().username, "operator");
  } catch {
    // A user id without an entry in the system's user list has no name, which is no reason not to run.
    return "operator";
  }
}

/** Forgets every hour what was deleted long ago; a failed round is tried again in the next. */
function startSweep(memory: MemoryService, log: Log): () => void {
  const sweep = async (): Promise<void> => {
    try {
      const names = await memory.sweep();
      if (names > 0) log.info({ names }, "revisions of names deleted long ago were forgotten");
    } catch (error) {
      log.warn({ error }, "the hourly sweep failed; it runs again in an hour");
    }
  };
  const timer = setInterval(sweep, sweepEveryMs);
  timer.unref();
  return () => clearInterval(timer);
}

/**
 * Opens the database of the configuration and puts the services on it. Throws `unavailable` when another
 * process owns the database, `failed_precondition` when it cannot be used.
 */
export async function createApp(
  config: Config = loadConfig(),
  { log = silentLog, clock = systemClock }: AppOptions = {},
): Promise<App> {
  const storages = await openSqliteStorages({
    databaseUrl: config.database.url,
    backupsDir: config.paths.backupsDir,
    version: memorydVersion,
    log,
    clock,
    memory: { revisionsPerRecord: config.memory.revisionsPerRecord },
  });
  const memory = createMemoryService(storages.memory, config.memory, clock);
  const operator: Caller = { user: operatorName(), right: "admin" };
  const registerRoutes = (router: ConnectRouter): void => registerMemoryRoutes(router, memory, operator);
  const interceptors = [createCallInterceptor(log)];
  const stopSweep = startSweep(memory, log);
  const close = async (): Promise<void> => {
    stopSweep();
    await storages.close();
  };
  return {
    config,
    storages,
    memory,
    operator,
    registerRoutes,
    interceptors,
    // JSON, because the binary encoder of the client side would repair malformed text before we see it.
    transport: createRouterTransport(registerRoutes, {
      router: { interceptors },
      transport: { useBinaryFormat: false },
    }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

export type MemorydTransport = Transport & AsyncDisposable & { readonly close: () => Promise<void> };

/**
 * A Connect transport over memoryd in this process: in memory unless `databaseFile` (an absolute path)
 * names a file, which this process then owns. Close it when done.
 */
export async function createMemorydTransport({
  databaseFile,
}: {
  databaseFile?: string;
} = {}): Promise<MemorydTransport> {
  const url = databaseFile === undefined ? "sqlite::memory:" : `sqlite:${databaseFile}`;
  const app = await createApp(loadConfig({ flags: { "database.url": url } }));
  return { ...app.transport, close: app.close, [Symbol.asyncDispose]: app.close };
}
