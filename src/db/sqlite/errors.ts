/**
 * What a fault of SQLite means, told by the driver's code and never by its text (design section 3).
 * A fault of a call is sent over wires and names no path; a fault of the start is read on this machine by
 * who runs the daemon, and does.
 */
import Database from "better-sqlite3";
import { type ErrorCode, isMemorydError, MemorydError } from "../../kernel/errors.js";

export const damagedReason = "DATABASE_DAMAGED";

type Fault = { readonly code: ErrorCode; readonly reason: string; readonly message: string };

/** By primary result code; an extended code such as SQLITE_IOERR_WRITE counts as its primary one. */
const faults: Readonly<Record<string, Fault>> = {
  SQLITE_FULL: {
    code: "unavailable",
    reason: "DISK_FULL",
    message: "The disk of the daemon is full: free some space there and try again.",
  },
  SQLITE_IOERR: {
    code: "unavailable",
    reason: "STORAGE_IO",
    message: "The disk of the daemon did not take or give the data: check it and try again.",
  },
  SQLITE_CANTOPEN: {
    code: "unavailable",
    reason: "STORAGE_UNREACHABLE",
    message: "The daemon cannot open its database: check its folder and try again.",
  },
  SQLITE_READONLY: {
    code: "unavailable",
    reason: "STORAGE_READ_ONLY",
    message: "The daemon may not write its database: give it the right to and try again.",
  },
  SQLITE_BUSY: {
    code: "unavailable",
    reason: "STORAGE_BUSY",
    message: "Another program holds the database of the daemon: close it and try again.",
  },
  SQLITE_LOCKED: {
    code: "unavailable",
    reason: "STORAGE_BUSY",
    message: "The database of the daemon is locked: try again in a moment.",
  },
  SQLITE_CORRUPT: {
    code: "internal",
    reason: damagedReason,
    message: "The database of the daemon is damaged: stop the daemon and restore a backup.",
  },
  SQLITE_NOTADB: {
    code: "internal",
    reason: damagedReason,
    message: "The database of the daemon was overwritten: stop the daemon and restore a backup.",
  },
};

/** What a start says instead, about the file that it names. */
const startMessages: Readonly<Record<string, (file: string) => string>> = {
  SQLITE_FULL: (file) => `The disk that holds ${file} is full: free some space and start again.`,
  SQLITE_IOERR: (file) => `The disk that holds ${file} fails to read or write: check it and start again.`,
  SQLITE_CANTOPEN: (file) =>
    `${file} cannot be opened: check that its folder exists and that you may write to it.`,
  SQLITE_READONLY: (file) => `${file} may not be written: make it and its folder writable for you.`,
  SQLITE_BUSY: (file) => `Another program holds ${file}: close it and start again.`,
  SQLITE_LOCKED: (file) => `Another program holds ${file}: close it and start again.`,
  SQLITE_CORRUPT: (file) => `The database ${file} is damaged: put it aside and restore a backup.`,
  SQLITE_NOTADB: (file) =>
    `${file} is not a SQLite database: name another file as the database, or restore a backup.`,
};

export type SqliteError = InstanceType<typeof Database.SqliteError>;

export const isSqliteError = (error: unknown): error is SqliteError => error instanceof Database.SqliteError;

/** The primary result code: SQLITE_IOERR of SQLITE_IOERR_FSYNC. */
export const primaryCode = (error: SqliteError): string => error.code.split("_").slice(0, 2).join("_");

/** As a caller may see it. What is neither ours nor the driver's, or has no row above, is `internal`. */
export function memorydErrorFromSqlite(error: unknown): MemorydError {
  if (isMemorydError(error)) return error;
  const fault = isSqliteError(error) ? faults[primaryCode(error)] : undefined;
  if (fault === undefined) {
    const message = "Something went wrong in the database; the daemon's log has the cause.";
    return new MemorydError("internal", message, { cause: error });
  }
  return new MemorydError(fault.code, fault.message, { reason: fault.reason, cause: error });
}

/** As who starts the daemon reads it; `file` is the database, its lock or its backup. */
export function startErrorFrom(error: unknown, file: string): MemorydError {
  if (isMemorydError(error)) return error;
  if (isNotLoaded(error)) {
    const message =
      "The compiled part of better-sqlite3 is missing or was made for another Node: run npm rebuild better-sqlite3.";
    return new MemorydError("failed_precondition", message, { reason: "SQLITE_NOT_LOADED", cause: error });
  }
  if (!isSqliteError(error)) {
    const message = `${file} cannot be used (${systemCode(error)}): check that it and its folder are yours to write.`;
    return new MemorydError("unavailable", message, { reason: "STORAGE_UNREACHABLE", cause: error });
  }
  const code = primaryCode(error);
  const message = startMessages[code]?.(file) ?? `The database ${file} failed with ${error.code}.`;
  const { reason } = memorydErrorFromSqlite(error);
  const isUnusable = code === "SQLITE_NOTADB" || code === "SQLITE_CORRUPT";
  if (isUnusable) {
    const why = code === "SQLITE_NOTADB" ? "NOT_A_DATABASE" : reason;
    return new MemorydError("failed_precondition", message, { reason: why, cause: error });
  }
  return new MemorydError(faults[code]?.code ?? "internal", message, { reason, cause: error });
}

/** The driver loads its compiled part with the first connection; `tries` are the places where it was looked for. */
const isNotLoaded = (error: unknown): boolean =>
  error instanceof Error && ("tries" in error || ("code" in error && error.code === "ERR_DLOPEN_FAILED"));

const systemCode = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "unknown fault";
