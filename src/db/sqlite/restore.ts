/**
 * Puts a copy in the place of a database that nobody uses. The present one is set aside and never deleted; at
 * no moment is there no database, because a start would make an empty one then.
 *
 * | moment of a crash | what a start finds | what stays |
 * | --- | --- | --- |
 * | while the copy is made and checked | the present database | the unfinished copy |
 * | after the present one got its second name | the present database | that name, the copy |
 * | after the copy took the first name | the restored database | |
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
} from "node:fs";
import { dirname } from "node:path";
import { MemorydError } from "../../kernel/errors.js";
import { randomHex } from "../../kernel/ids.js";
import { type Migration, pendingMigrations } from "../migrate.js";
import { type CopyProgress, copyDatabase } from "./copy.js";
import { isSqliteError, primaryCode, startErrorFrom } from "./errors.js";
import { applicationId, readApplied } from "./migrate.js";
import { type Connection, openUntouched } from "./open.js";
import { acquireOwnership } from "./ownership.js";

export type RestoreOptions = {
  /** The database, an absolute path; there need not be one. */
  readonly databaseFile: string;
  /** The backup, an absolute path; it is only read. */
  readonly backupFile: string;
  /** What the present database is called afterwards; nothing may be there. */
  readonly asideFile: string;
  readonly migrations: readonly Migration[];
  /** Changes what must not be as it was in the copy, in one transaction. */
  readonly renew: (connection: Connection) => void;
  readonly onProgress?: (progress: CopyProgress) => void;
  readonly signal?: AbortSignal | undefined;
};

const sides = ["-wal", "-shm"] as const;

/**
 * Restores; answers whether there was a database to set aside. Throws `unavailable` when somebody owns or reads
 * the database, `failed_precondition` for a backup that is damaged, another program's or a newer version's; then
 * all is as it was.
 */
export async function restoreDatabase(options: RestoreOptions): Promise<boolean> {
  const { databaseFile, backupFile, migrations, renew } = options;
  const ownership = acquireOwnership(databaseFile);
  const copy = `${ownership.file}.restoring-${randomHex(6)}`;
  try {
    assertOther(backupFile, ownership.file);
    await copyDatabase({ ...options, file: backupFile, target: copy, replaces: false });
    prepareCopy(copy, backupFile, migrations, renew);
    return exchange(ownership.file, copy, options.asideFile);
  } catch (error) {
    for (const end of ["", "-journal"]) rmSync(`${copy}${end}`, { force: true });
    throw startErrorFrom(error, databaseFile);
  } finally {
    ownership.release();
  }
}

function assertOther(backupFile: string, databaseFile: string): void {
  if (realpathSync.native(backupFile) !== databaseFile) return;
  throw new MemorydError("invalid_argument", `${backupFile} is the database itself: name a backup of it.`, {
    reason: "INVALID_ARGUMENT",
  });
}

function prepareCopy(
  copy: string,
  backupFile: string,
  migrations: readonly Migration[],
  renew: (connection: Connection) => void,
): void {
  const connection = openUntouched(copy);
  try {
    const applied = readApplied(connection) ?? [];
    if (connection.pragma("application_id", { simple: true }) !== applicationId || applied.length === 0) {
      throw new MemorydError(
        "failed_precondition",
        `${backupFile} is no backup of memoryd: name a file that memoryd backup wrote.`,
        { reason: "FOREIGN_DATABASE" },
      );
    }
    pendingMigrations(
      applied,
      migrations.map(({ id, sqlite }) => ({ id, sql: sqlite })),
    );
    connection.transaction(() => renew(connection)).immediate();
  } finally {
    connection.close();
  }
}

/** Gives the present database a second name and the copy the first one. */
function exchange(file: string, copy: string, asideFile: string): boolean {
  const isThere = existsSync(file);
  if (isThere) {
    if (!emptyLog(file)) for (const side of sides) moveIfThere(`${file}${side}`, `${asideFile}${side}`);
    giveSecondName(file, asideFile);
  } else for (const side of sides) moveIfThere(`${file}${side}`, `${asideFile}${side}`);
  renameSync(copy, file);
  syncFolder(dirname(file));
  return isThere;
}

const header = "SQLite format 3\0";

/** Read by `fs`, which only a process may that has no connection to the file. */
function hasHeader(file: string): boolean {
  const descriptor = openSync(file, "r");
  try {
    const start = Buffer.alloc(header.length);
    readSync(descriptor, start, 0, header.length, 0);
    return start.toString("latin1") === header;
  } finally {
    closeSync(descriptor);
  }
}

/** Brings the log into the file, so that one file is all of it; false when the database is too damaged for it. */
function emptyLog(file: string): boolean {
  // SQLite would delete the log of what it does not know, and that log may be all that is whole.
  if (!hasHeader(file)) return false;
  let connection: Connection | undefined;
  try {
    connection = openUntouched(file);
    connection.pragma("journal_mode = DELETE", { simple: true });
    return !sides.some((side) => existsSync(`${file}${side}`));
  } catch (error) {
    if (!isSqliteError(error) || !/^SQLITE_(?:CORRUPT|NOTADB|IOERR)$/.test(primaryCode(error))) throw error;
    return false;
  } finally {
    connection?.close();
  }
}

function moveIfThere(from: string, to: string): void {
  if (existsSync(from)) renameSync(from, to);
}

function giveSecondName(file: string, asideFile: string): void {
  try {
    linkSync(file, asideFile);
  } catch (error) {
    // Some file systems have no second names.
    if ((error as NodeJS.ErrnoException).code === "EEXIST") throw error;
    renameSync(file, asideFile);
  }
}

/** Names outlive a loss of power only when their folder is on the disk; where folders cannot be synced, they are. */
function syncFolder(folder: string): void {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(folder, "r");
    fsyncSync(descriptor);
  } catch {
    // Safe to go on: the exchange is done, and a start finds one database or the other.
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
