/**
 * The one file that knows every part: configuration -> storages -> services -> routes -> server. The daemon
 * listens with them; programs that embed memoryd use the transport, which calls the same handlers without a
 * socket (daemon.md D17).
 */
import { resolve } from "node:path";
import {
  type ConnectRouter,
  createRouterTransport,
  type Interceptor,
  type Transport,
} from "@connectrpc/connect";
import { daemonIdFrom } from "./config/daemon-id.js";
import { type Discovery, readDiscovery, type StartFailure, writeStartFailure } from "./config/discovery.js";
import { readEnvironment } from "./config/env.js";
import { assertAppendable, ensurePrivateFolder } from "./config/files.js";
import { type Config, loadConfig } from "./config/load.js";
import { progressFileOf } from "./config/progress.js";
import { ensureOperatorToken } from "./config/token.js";
import { memorydVersion } from "./config/version.js";
import { backUpDaily, listBackups, startDailyBackups } from "./engines/backups.js";
import { backUpSqlite, openSqliteStorages } from "./engines/sqlite.js";
import type { Storages } from "./engines/storages.js";
import { createTreeReader } from "./engines/tree.js";
import type { Caller } from "./kernel/caller.js";
import { type Clock, systemClock } from "./kernel/clock.js";
import { isMemorydError, MemorydError } from "./kernel/errors.js";
import { randomHex } from "./kernel/ids.js";
import { type Log, silentLog } from "./kernel/log.js";
import { memoryRequestMetadata, memoryResponseMetadata, registerMemoryRoutes } from "./memory/rpc.js";
import { type RecordServices, registerRecordRoutes } from "./memory/rpc-records.js";
import { createMemoryService, type MemoryService } from "./memory/service.js";
import { createFilesService } from "./memory/service-files.js";
import { createHistoryService } from "./memory/service-history.js";
import { createRefsService } from "./memory/service-refs.js";
import { createRootService } from "./memory/service-roots.js";
import { createSearchService } from "./memory/service-search.js";
import { createVerifyService } from "./memory/service-verify.js";
import { createWatchService } from "./memory/service-watch.js";
import { slug } from "./memsync/slug.js";
import { runDaemon } from "./server/lifecycle.js";
import { openLog } from "./server/log.js";
import { startServer } from "./server/server.js";
import { startTracing } from "./server/tracing.js";
import { createCallInterceptor } from "./wire/connect.js";
import { connectErrorFrom } from "./wire/errors.js";

export type AppOptions = {
  readonly log?: Log;
  readonly clock?: Clock;
  /** Where the daemon notes how far its database has come, to notice one that was put back (daemon.md D30). */
  readonly progressFile?: string | undefined;
};

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
  readonly openWatches: () => number;
  /** Answers the writes that wait, then lets go of the database. */
  readonly close: () => Promise<void>;
};

const sweepEveryMs = 60 * 60 * 1_000;

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

/** Indexes what is older than the index beside the first calls; a search waits for it, and tries again. */
async function indexRest(storages: Storages, log: Log): Promise<void> {
  try {
    const records = await storages.memory.indexRest();
    if (records > 0) log.info({ records }, "records from before there was a search were indexed");
  } catch (error) {
    log.warn({ error }, "older records are not indexed yet; the first search goes on with it");
  }
}

/**
 * Opens the database of the configuration and puts the services on it. Throws `unavailable` when another
 * process owns the database, `failed_precondition` when it cannot be used.
 */
export async function createApp(
  config: Config = loadConfig(),
  { log = silentLog, clock = systemClock, progressFile }: AppOptions = {},
): Promise<App> {
  const storages = await openSqliteStorages({
    databaseUrl: config.database.url,
    backupsDir: config.paths.backupsDir,
    progressFile,
    version: memorydVersion,
    log,
    clock,
    memory: {
      revisionsPerRecord: config.memory.revisionsPerRecord,
      daemonId: daemonIdFrom(readEnvironment(), config.paths),
    },
  });
  const tree = createTreeReader({ clock });
  const refs = createRefsService(storages.memory, tree, clock);
  const memory = createMemoryService(storages.memory, config.memory, clock, refs);
  // The operating system's user (daemon.md D24); a name without a letter or digit leaves no slug.
  const operator: Caller = { user: slug(readEnvironment().userName, "operator"), right: "admin" };
  const records: RecordServices = {
    files: createFilesService(storages.memory, config.memory, clock),
    history: createHistoryService(storages.memory, config.memory, refs),
    roots: createRootService(storages.memory, tree, config.memory),
    search: createSearchService(storages.memory, refs, config.memory),
    verify: createVerifyService(storages.memory, refs, config.memory),
    watch: createWatchService(storages.memory, config.memory),
  };
  const registerRoutes = (router: ConnectRouter): void => {
    registerMemoryRoutes(router, memory, operator);
    registerRecordRoutes(router, records, operator);
  };
  const interceptors = [createCallInterceptor(log)];
  void indexRest(storages, log);
  const stopSweep = startSweep(memory, log);
  let isClosed = false;
  const close = async (): Promise<void> => {
    isClosed = true;
    stopSweep();
    records.watch.close();
    await storages.close();
  };
  const assertOpen = (): void => {
    if (!isClosed) return;
    const message = "memoryd was closed in this process; open it again to call it.";
    throw connectErrorFrom(new MemorydError("unavailable", message, { reason: "CLOSED" }));
  };
  // JSON, because the binary encoder of the client side would repair malformed text before we see it.
  const inner = createRouterTransport(registerRoutes, {
    router: { interceptors },
    transport: { useBinaryFormat: false },
  });
  return {
    config,
    storages,
    memory,
    operator,
    registerRoutes,
    interceptors,
    transport: {
      unary: async (...call) => {
        assertOpen();
        return inner.unary(...call);
      },
      stream: async (...call) => {
        assertOpen();
        return inner.stream(...call);
      },
    },
    openWatches: records.watch.openWatches,
    close,
    [Symbol.asyncDispose]: close,
  };
}

export type MemorydTransport = Transport & AsyncDisposable & { readonly close: () => Promise<void> };

/**
 * A Connect transport over memoryd in this process: in memory unless `databaseFile` names a file, which this process then owns. Close it when done.
 */
export async function createMemorydTransport({
  databaseFile,
}: {
  databaseFile?: string;
} = {}): Promise<MemorydTransport> {
  const url = databaseFile === undefined ? "sqlite::memory:" : `sqlite:${resolve(databaseFile)}`;
  const app = await createApp(loadConfig({ flags: { "database.url": url } }));
  return { ...app.transport, close: app.close, [Symbol.asyncDispose]: app.close };
}

const databaseOwned = "DATABASE_OWNED";

/** Says where the owner of the database can be reached, when it left word (daemon.md D6). */
function namingOwner(error: unknown, config: Config): unknown {
  if (!isMemorydError(error) || error.reason !== databaseOwned) return error;
  const owner = readDiscovery(config.paths.discoveryFile);
  const place = owner?.url ?? owner?.socket;
  if (owner === undefined || place === undefined) return error;
  return new MemorydError(
    "unavailable",
    `memoryd ${owner.version} (process ${owner.pid}) already serves this database at ${place}: use it, or stop it first.`,
    { reason: databaseOwned, cause: error },
  );
}

async function statusOf(app: App, instance: Discovery): Promise<Readonly<Record<string, unknown>>> {
  const { url, socket, pid, version, startTime } = instance;
  return {
    version,
    url,
    socket,
    pid,
    startTime,
    uptimeSeconds: Math.floor(process.uptime()),
    engine: app.storages.engine,
    databaseBytes: app.storages.sizeBytes(),
    lastBackup: lastBackupTime(app.config),
    memory: await app.memory.counts(),
  };
}

/** Of the newest copy in the backups folder; null when there is none. */
function lastBackupTime({ paths }: Config): string | null {
  const [newest] = listBackups(paths.backupsDir);
  return newest === undefined ? null : new Date(newest.atMs).toISOString();
}

/** The daemon's own backups, from now on; answers how to end them, which ends a copy that is being made. */
function startBackups({ paths, backup }: Config, log: Log): () => void {
  const { databaseFile: file, backupsDir: folder } = paths;
  if (file === undefined || !backup.daily) return () => {};
  const stop = new AbortController();
  const { signal } = stop;
  const copyTo = (target: string) => backUpSqlite({ file, target, replaces: false, signal });
  const round = () => backUpDaily({ folder, keep: backup.keep, copyTo, clock: systemClock, log });
  const forget = startDailyBackups(round, log);
  return () => {
    forget();
    stop.abort();
  };
}

/** What a daemon says once everything listens and can be found. */
export type ReadyDaemon = {
  readonly url: string | undefined;
  readonly socket: string | undefined;
  readonly pid: number;
  readonly version: string;
};

async function runWithLog(config: Config, log: Log, onReady: (ready: ReadyDaemon) => void): Promise<void> {
  const { access, paths } = config;
  const environment = readEnvironment();
  ensurePrivateFolder(paths.dataDir);
  ensurePrivateFolder(paths.stateDir);
  const operatorToken = access.insecureNoAuth ? undefined : ensureOperatorToken(paths.tokenFile);
  const { databaseFile, stateDir } = paths;
  const progressFile = databaseFile === undefined ? undefined : progressFileOf(stateDir, databaseFile);
  const app = await createApp(config, { log, progressFile }).catch((error: unknown) => {
    throw namingOwner(error, config);
  });
  const tracing = environment.wantsTraces ? await startTracing(memorydVersion, log) : undefined;
  const instance = randomHex(16);
  const startTime = new Date(systemClock.nowMs()).toISOString();
  const describe = (): Discovery => ({
    ...(server.url === undefined ? {} : { url: server.url }),
    ...(server.socket === undefined ? {} : { socket: server.socket }),
    pid: process.pid,
    startTime,
    version: memorydVersion,
    instance,
    ...(access.insecureNoAuth ? { withoutToken: true } : {}),
  });
  let stopBackups = (): void => {};
  const closeApp = async (): Promise<void> => {
    stopBackups();
    await tracing?.close();
    await app.close();
  };
  const server = await startServer({
    config,
    log,
    clock: systemClock,
    version: memorydVersion,
    instance,
    operator: app.operator,
    operatorToken,
    registerRoutes: app.registerRoutes,
    interceptors: app.interceptors,
    exposedHeaders: memoryResponseMetadata,
    allowedHeaders: memoryRequestMetadata,
    components: [{ name: "storage", check: app.storages.check }],
    status: () => statusOf(app, describe()),
    gauges: [
      {
        name: "memoryd_write_queue_depth",
        help: "Writes that wait for their commit",
        read: app.storages.queueDepth,
      },
      {
        name: "memoryd_database_bytes",
        help: "Size of the database with its log",
        read: app.storages.sizeBytes,
      },
      { name: "memoryd_open_watches", help: "Watches open now", read: app.openWatches },
    ],
    onBatch: app.storages.onBatch,
    tracing,
  }).catch(async (error: unknown) => {
    await closeApp();
    throw error;
  });
  await runDaemon({
    config,
    log,
    server,
    discovery: describe(),
    closeStorage: closeApp,
    onReady: ({ url, socket, pid, version }) => {
      onReady({ url, socket, pid, version });
      stopBackups = startBackups(config, log);
    },
    parentProcessId: environment.parentProcessId,
  });
}

function leaveWord(config: Config, failure: StartFailure, log: Log): void {
  try {
    writeStartFailure(config.paths.startFailureFile, failure);
  } catch (error) {
    // Whoever waits runs into its own deadline; the fault that ended the start is the one to report.
    log.debug({ error }, "the reason could not be left where others read it");
  }
}

/**
 * Serves until there is a reason to stop (daemon.md D7, D8). `onReady` is called once everything listens and
 * can be found. Throws, after leaving word for those who wait (D5), when the daemon cannot start:
 * `unavailable` when the database or the port is taken, `failed_precondition` when a file is no good.
 */
export async function serveDaemon(config: Config, onReady: (ready: ReadyDaemon) => void): Promise<void> {
  if (config.log.file !== undefined) assertAppendable(config.log.file);
  const isTerminal = process.stderr.isTTY === true;
  const log = await openLog({ ...config.log, isTerminal });
  let isReady = false;
  try {
    await runWithLog(config, log, (ready) => {
      isReady = true;
      onReady(ready);
    });
  } catch (error) {
    if (!isReady) {
      const { reason, message } = isMemorydError(error)
        ? error
        : { reason: "START_FAILED", message: "The daemon's log says why." };
      // Whoever called prints the sentence; a log of its own keeps the causes as well.
      if (config.log.file !== undefined || !isMemorydError(error))
        log.error({ error }, "the daemon cannot start");
      leaveWord(config, { at: systemClock.nowMs(), reason, message }, log);
    }
    throw error;
  } finally {
    await log.close();
  }
}
