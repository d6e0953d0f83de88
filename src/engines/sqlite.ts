/** All storages on one SQLite database: the one place that knows every domain's migrations for it. */
import { inMemoryDatabaseUrl, sqliteScheme } from "../config/formats.js";
import { openSqliteDatabase } from "../db/sqlite/database.js";
import { inspectSqliteDatabase, inspectUsedSqliteDatabase } from "../db/sqlite/inspect.js";
import type { Clock } from "../kernel/clock.js";
import type { Log } from "../kernel/log.js";
import { memoryMigrations } from "../memory/schema.js";
import { createSqliteMemoryStorage, type MemoryStorageOptions } from "../memory/sqlite.js";
import type { Storages } from "./storages.js";

export type SqliteStoragesOptions = {
  /** `sqlite:` and an absolute path, or `sqlite::memory:`. */
  readonly databaseUrl: string;
  readonly backupsDir: string;
  /** The version of this memoryd. */
  readonly version: string;
  readonly log: Log;
  readonly clock: Clock;
  readonly memory: MemoryStorageOptions;
};

const migrations = memoryMigrations;

/** Opens, migrates and owns the database; throws as `openSqliteDatabase` does. */
export async function openSqliteStorages(options: SqliteStoragesOptions): Promise<Storages> {
  const { databaseUrl, backupsDir, version, log, clock } = options;
  const file = databaseUrl === inMemoryDatabaseUrl ? ":memory:" : databaseUrl.slice(sqliteScheme.length);
  const database = await openSqliteDatabase({ file, migrations, backupsDir, version, log, clock });
  return {
    engine: "sqlite",
    memory: createSqliteMemoryStorage(database, options.memory, clock),
    check: database.check,
    sizeBytes: database.sizeBytes,
    queueDepth: database.queueDepth,
    onBatch: database.onBatch,
    close: database.close,
  };
}

/**
 * Whether a daemon of this version could start on an existing file that no daemon uses; throws what it would
 * throw. Nothing is changed.
 */
export const inspectSqlite = (file: string): void => inspectSqliteDatabase(file, migrations);

/** The same of a file that another process uses. */
export const inspectUsedSqlite = (file: string): void => inspectUsedSqliteDatabase(file, migrations);
