/** All storages on one SQLite database: the one place that knows every domain's migrations for it. */
import { inMemoryDatabaseUrl, sqliteScheme } from "../config/formats.js";
import { type CopyOptions, copyDatabase } from "../db/sqlite/copy.js";
import { openSqliteDatabase } from "../db/sqlite/database.js";
import { inspectSqliteDatabase, inspectUsedSqliteDatabase } from "../db/sqlite/inspect.js";
import { type RestoreOptions, restoreDatabase } from "../db/sqlite/restore.js";
import type { Clock } from "../kernel/clock.js";
import type { Log } from "../kernel/log.js";
import { memoryMigrations } from "../memory/schema.js";
import { createSqliteMemoryStorage, type MemoryStorageOptions } from "../memory/sqlite.js";
import { memoryProgress, renewMemoryEpochs } from "../memory/sqlite-epochs.js";
import { keepProgress } from "./sqlite-progress.js";
import type { Storages } from "./storages.js";

export type SqliteStoragesOptions = {
  /** `sqlite:` and an absolute path, or `sqlite::memory:`. */
  readonly databaseUrl: string;
  readonly backupsDir: string;
  /** Where it is noted how far the database has come; nothing is noted when left out. */
  readonly progressFile?: string | undefined;
  /** The version of this memoryd. */
  readonly version: string;
  readonly log: Log;
  readonly clock: Clock;
  readonly memory: MemoryStorageOptions;
};

const migrations = memoryMigrations;

/** Opens, migrates and owns the database; throws as `openSqliteDatabase` does. */
export async function openSqliteStorages(options: SqliteStoragesOptions): Promise<Storages> {
  const { databaseUrl, backupsDir, progressFile, version, log, clock } = options;
  const isInMemory = databaseUrl === inMemoryDatabaseUrl;
  const file = isInMemory ? ":memory:" : databaseUrl.slice(sqliteScheme.length);
  const database = await openSqliteDatabase({ file, migrations, backupsDir, version, log, clock });
  const progress =
    progressFile === undefined || isInMemory
      ? undefined
      : keepProgress(database.connection, progressFile, log);
  return {
    engine: "sqlite",
    memory: createSqliteMemoryStorage(database, options.memory, clock),
    check: database.check,
    sizeBytes: database.sizeBytes,
    queueDepth: database.queueDepth,
    onBatch: database.onBatch,
    close: () => database.close(() => progress?.close()),
  };
}

/**
 * Whether a daemon of this version could start on an existing file that no daemon uses; throws what it would
 * throw. Nothing is changed.
 */
export const inspectSqlite = (file: string): void => inspectSqliteDatabase(file, migrations);

/** The same of a file that another process uses. */
export const inspectUsedSqlite = (file: string): void => inspectUsedSqliteDatabase(file, migrations);

export type SqliteBackupOptions = CopyOptions;

/** Writes a checked copy of a database that a daemon may be serving; throws as `copyDatabase` does. */
export const backUpSqlite = copyDatabase;

export type SqliteRestoreOptions = Omit<RestoreOptions, "migrations" | "renew">;

export type SqliteRestored = {
  /** Whether there was a database to set aside. */
  readonly isReplaced: boolean;
  /** Workspaces, each with a new epoch. */
  readonly workspaces: number;
  /** How far the restored database has come. */
  readonly position: number;
};

/** Puts a backup in the place of a database that nobody uses; throws as `restoreDatabase` does. */
export async function restoreSqlite(options: SqliteRestoreOptions): Promise<SqliteRestored> {
  let [workspaces, position] = [0, 0];
  const isReplaced = await restoreDatabase({
    ...options,
    migrations,
    renew: (connection) => {
      workspaces = renewMemoryEpochs(connection);
      position = memoryProgress(connection);
    },
  });
  return { isReplaced, workspaces, position };
}
