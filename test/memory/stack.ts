/**
 * The memory domain put together as the app does it, with its database within reach: for what can only be
 * seen in, or done to, the tables.
 */
import { join } from "node:path";
import { type Client, createClient, createRouterTransport } from "@connectrpc/connect";
import { onTestFinished } from "vitest";
import { MemoryService } from "../../gen/magus/memory/v1/memory_pb.js";
import { RecordService } from "../../gen/memoryd/records/v1/records_pb.js";
import { openSqliteDatabase, type SqliteDatabase } from "../../src/db/sqlite/database.js";
import { createTreeReader } from "../../src/engines/tree.js";
import type { Caller } from "../../src/kernel/caller.js";
import { type Clock, systemClock } from "../../src/kernel/clock.js";
import { silentLog } from "../../src/kernel/log.js";
import { registerMemoryRoutes } from "../../src/memory/rpc.js";
import { type RecordServices, registerRecordRoutes } from "../../src/memory/rpc-records.js";
import { memoryMigrations } from "../../src/memory/schema.js";
import {
  createMemoryService,
  type MemoryOptions,
  type MemoryService as Service,
} from "../../src/memory/service.js";
import { createFilesService } from "../../src/memory/service-files.js";
import { createHistoryService } from "../../src/memory/service-history.js";
import { createRefsService } from "../../src/memory/service-refs.js";
import { createRootService } from "../../src/memory/service-roots.js";
import { createSearchService } from "../../src/memory/service-search.js";
import { createVerifyService } from "../../src/memory/service-verify.js";
import { createWatchService } from "../../src/memory/service-watch.js";
import { createSqliteMemoryStorage } from "../../src/memory/sqlite.js";
import type { MemoryStorage } from "../../src/memory/storage.js";
import type { TreeReader } from "../../src/memory/tree.js";
import { createCallInterceptor } from "../../src/wire/connect.js";
import { type Calls, callsTo, createFolder, type Engine, removeFolder } from "./door.js";

export type StackOptions = Partial<MemoryOptions> & {
  readonly revisionsPerRecord?: number;
  readonly clock?: Clock;
  /** A right smaller than that of an operator. */
  readonly caller?: Caller;
};

export type Stack = Calls & {
  readonly database: SqliteDatabase;
  readonly storage: MemoryStorage;
  readonly service: Service;
  readonly client: Client<typeof MemoryService>;
  readonly records: Client<typeof RecordService>;
  /** The rows that a query answers. */
  readonly rows: (sql: string, ...parameters: unknown[]) => Record<string, unknown>[];
  readonly run: (sql: string, ...parameters: unknown[]) => void;
};

export const tester: Caller = { user: "tester", right: "admin" };

/** A reader that gives slow machines the time they need; what it does without is `test/engines/tree.test.ts`. */
const patient = (reader: TreeReader): TreeReader => ({
  ...reader,
  within: (rootPath, { maxBytes }, use) => reader.within(rootPath, { maxBytes, maxMs: 60_000 }, use),
});

/** Opens the domain for a test, with which it closes. */
export async function stackForTest(engine: Engine, options: StackOptions = {}): Promise<Stack> {
  const folder = createFolder();
  const { clock = systemClock, caller = tester } = options;
  const database = await openSqliteDatabase({
    file: engine === "SQLite on disk" ? join(folder, "memoryd.db") : ":memory:",
    migrations: memoryMigrations,
    version: "1.0.0",
    log: silentLog,
    clock,
  });
  onTestFinished(async () => {
    await database.close();
    removeFolder(folder);
  });
  const { revisionsPerRecord = 100 } = options;
  const storage = createSqliteMemoryStorage(database, { revisionsPerRecord }, clock);
  const memoryOptions: MemoryOptions = {
    defaultWorkspace: "default",
    maxRecords: 10_000,
    maxWorkspaces: 1_000,
    deletedKeepDays: 365,
    ...options,
  };
  const tree = patient(createTreeReader({ clock }));
  const refs = createRefsService(storage, tree, clock);
  const service = createMemoryService(storage, memoryOptions, clock, refs);
  const records: RecordServices = {
    files: createFilesService(storage, memoryOptions, clock),
    history: createHistoryService(storage, memoryOptions, refs),
    roots: createRootService(storage, tree, memoryOptions),
    search: createSearchService(storage, refs, memoryOptions),
    verify: createVerifyService(storage, refs, memoryOptions),
    watch: createWatchService(storage, memoryOptions),
  };
  const registerRoutes = (router: Parameters<typeof registerMemoryRoutes>[0]): void => {
    registerMemoryRoutes(router, service, caller);
    registerRecordRoutes(router, records, caller);
  };
  const interceptors = [createCallInterceptor(silentLog)];
  const transport = createRouterTransport(registerRoutes, {
    router: { interceptors },
    transport: { useBinaryFormat: false },
  });
  return {
    ...callsTo({ registerRoutes, interceptors }),
    database,
    storage,
    service,
    client: createClient(MemoryService, transport),
    records: createClient(RecordService, transport),
    rows: (sql, ...parameters) =>
      database.connection.prepare<unknown[], Record<string, unknown>>(sql).all(...parameters),
    run: (sql, ...parameters) => void database.connection.prepare(sql).run(...parameters),
  };
}
