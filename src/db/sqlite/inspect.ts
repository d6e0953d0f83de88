/**
 * Looks at a database file that no daemon uses, for `doctor`: could a daemon of this version start on it? It
 * is owned meanwhile and opened for reading only; nothing is migrated or repaired.
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
  let reader: Connection | undefined;
  try {
    reader = openReader(ownership.file);
    assertOurs(reader);
    if (reader.pragma("quick_check(1)", { simple: true }) !== "ok") throw damaged(file);
    const wanted = migrations.map(({ id, sqlite }) => ({ id, sql: sqlite }));
    pendingMigrations(readApplied(reader) ?? [], wanted);
  } catch (error) {
    throw startErrorFrom(error, file);
  } finally {
    reader?.close();
    ownership.release();
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
