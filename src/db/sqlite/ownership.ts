/**
 * One process owns a database file (daemon.md D6): it holds an exclusive transaction on an empty database
 * beside it, `<file>.lock`, for as long as it lives. The operating system drops the lock with the process,
 * however that ends, so nothing stale can be left behind.
 *
 * The lock file is created here and never opened by other means: in the owner, any open and close of it
 * drops the lock at once (POSIX). It is never deleted: whoever had it open would then own a file that the
 * next one cannot see.
 */
import { accessSync, constants, lstatSync, mkdirSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import Database from "better-sqlite3";
import { MemorydError } from "../../kernel/errors.js";
import { isSqliteError, primaryCode, startErrorFrom } from "./errors.js";
import { createPrivateFile } from "./open.js";

export type Ownership = {
  /** The database file without links: the name that was locked, and the one to open. */
  readonly file: string;
  readonly release: () => void;
};

/** A draining owner may be about to let go; longer would keep a second start from failing within a second. */
const patienceMs = 300;

/**
 * Throws `unavailable` (reason DATABASE_OWNED) when another process, or this one, owns the file; and a
 * start error when its folder cannot hold the lock. Creates the folder (0700); the file need not exist.
 */
export function acquireOwnership(databaseFile: string): Ownership {
  let connection: Database.Database | undefined;
  let blamed = databaseFile;
  try {
    mkdirSync(dirname(databaseFile), { recursive: true, mode: 0o700 });
    const file = fileWithoutLinks(databaseFile);
    const lockFile = `${file}.lock`;
    blamed = lockFile;
    createPrivateFile(lockFile);
    // SQLite opens a file it may not write for reading, and would then "own" it beside another owner.
    accessSync(lockFile, constants.W_OK);
    const held = new Database(lockFile, { timeout: patienceMs });
    connection = held;
    // In memory, because a journal beside the lock would be one more file that outlives a crash.
    held.pragma("journal_mode = MEMORY");
    held.exec("BEGIN EXCLUSIVE");
    return { file, release: () => held.close() };
  } catch (error) {
    connection?.close();
    if (!isSqliteError(error) || primaryCode(error) !== "SQLITE_BUSY") throw startErrorFrom(error, blamed);
    throw new MemorydError(
      "unavailable",
      `Another memoryd owns ${databaseFile}: use that one, or stop it and start again.`,
      { reason: "DATABASE_OWNED", cause: error },
    );
  }
}

/** Every way to name a file gives the same lock. */
function fileWithoutLinks(file: string): string {
  if (lstatSync(file, { throwIfNoEntry: false }) !== undefined) return realpathSync.native(file);
  return join(realpathSync.native(dirname(file)), basename(file));
}
