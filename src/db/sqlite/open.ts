/**
 * SQLite connections as memoryd wants them: the one writer, and read-only ones for snapshots. Knows no
 * table. A database file is created and looked at by `stat` only: once it is open, any other open and
 * close of it in this process would drop SQLite's locks on it (POSIX).
 */
import { closeSync, openSync } from "node:fs";
import Database from "better-sqlite3";
import { MemorydError } from "../../kernel/errors.js";

export type Connection = Database.Database;

export const inMemory = ":memory:";

/** How long a statement waits for another program's lock; short, because the whole daemon waits with it. */
export const busyTimeoutMs = 500;
/** Pages in the write-ahead log before a commit moves them to the file: a stop of about 7 ms, not 15. */
const checkpointPages = 250;
/** The log is cut back to this once a long read let it grow. */
const maxIdleLogBytes = 16 * 1024 * 1024;

/** Creates an empty file with mode 0600; true when it was not there. */
export function createPrivateFile(file: string): boolean {
  try {
    closeSync(openSync(file, "wx", 0o600));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Opens without touching a byte, so that a file which is not ours can still be refused. */
export const openUntouched = (file: string): Connection => new Database(file, { timeout: busyTimeoutMs });

/** Turns a connection whose file is known to be ours into the writer: nothing acknowledged is ever lost. */
export function becomeWriter(connection: Connection): void {
  const mode = connection.pragma("journal_mode = WAL", { simple: true });
  if (mode !== "wal" && !connection.memory)
    throw new MemorydError(
      "failed_precondition",
      `${connection.name} lies on a file system without shared memory: keep the data on a local disk.`,
      { reason: "LOCAL_DISK_NEEDED" },
    );
  connection.pragma("synchronous = FULL");
  connection.pragma("foreign_keys = ON");
  connection.pragma("trusted_schema = OFF");
  // Overwrites what is deleted, so that little of it is left for a redaction to find.
  connection.pragma("secure_delete = ON");
  connection.pragma(`wal_autocheckpoint = ${checkpointPages}`);
  connection.pragma(`journal_size_limit = ${maxIdleLogBytes}`);
}

/** A connection that can read the database and nothing else. */
export function openReader(file: string): Connection {
  const connection = new Database(file, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs });
  connection.pragma("trusted_schema = OFF");
  return connection;
}
