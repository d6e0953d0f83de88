/**
 * Looks at a database file for `doctor`: could a daemon of this version start on it? One that no daemon uses is
 * owned meanwhile. It is opened for reading only; nothing is migrated or repaired.
 */

import { MemorydError } from "../../kernel/errors.js";
import { type Migration, pendingMigrations } from "../migrate.js";
import { damagedReason, startErrorFrom } from "./errors.js";
import { assertOurs, readApplied } from "./migrate.js";
import { type Connection, openReader } from "./open.js";
import { acquireOwnership } from "./ownership.js";

/** Throws what a start would, also `unavailable` (DATABASE_OWNED), and `failed_precondition` for a damaged file. */
export function inspectSqliteDatabase(file: string, migrations: readonly Migration[]): void {
  const ownership = acquireOwnership(file);
  try {
    inspectUsedSqliteDatabase(ownership.file, migrations);
  } finally {
    ownership.release();
  }
}

/** The same beside its owner. Never in the owner's own process, which would lose its locks (POSIX). */
export function inspectUsedSqliteDatabase(file: string, migrations: readonly Migration[]): void {
  let reader: Connection | undefined;
  try {
    reader = openReader(file);
    assertOurs(reader);
    if (reader.pragma("quick_check(1)", { simple: true }) !== "ok") throw damaged(file);
    const wanted = migrations.map(({ id, sqlite }) => ({ id, sql: sqlite }));
    pendingMigrations(readApplied(reader) ?? [], wanted);
  } catch (error) {
    throw startErrorFrom(error, file);
  } finally {
    reader?.close();
  }
}

const damaged = (file: string): MemorydError =>
  new MemorydError(
    "failed_precondition",
    `The database ${file} is damaged: put it aside and restore a backup.`,
    {
      reason: damagedReason,
    },
  );
