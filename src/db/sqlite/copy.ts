/**
 * A checked copy of a database that others may be using, made by a thread: the copy shows one moment, writes go
 * on meanwhile and do not make it begin anew. SQLite reads and writes both files, never `fs`; the copy needs no
 * log beside it, has mode 0600, and gets its name only when it was read through and found whole.
 */
import { linkSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import Database from "better-sqlite3";
import { MemorydError } from "../../kernel/errors.js";
import { randomHex } from "../../kernel/ids.js";
import { startErrorFrom } from "./errors.js";
import { createPrivateFile } from "./open.js";

export type CopyOptions = {
  /** An absolute path; it is opened for reading only. */
  readonly file: string;
  /** An absolute path in a folder that exists. */
  readonly target: string;
  /** Whether a `target` that exists is replaced; else `already_exists` is thrown, and nothing is touched. */
  readonly replaces: boolean;
  /** Told now and then; `checking` when the copy is made and is being read through. */
  readonly onProgress?: (progress: CopyProgress) => void;
  /** Ends the copy, of which nothing stays; its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
};

export type CopyProgress = { readonly copiedBytes: number; readonly totalBytes: number } | "checking";

/** What the name of an unfinished copy begins with, after its target's; a killed process leaves it behind. */
export const unfinishedSuffix = ".unfinished-";

const busyTimeoutMs = 5_000;
/** Four megabytes; between two steps the thread says how far it is. */
const pagesAtOnce = 1_000;

/** A text, so that the thread starts alike from sources and from what is built of them. */
const program = `
  const { parentPort, workerData: { driver, file, target, timeout, pages } } = require("node:worker_threads");
  const Database = require(driver);
  const say = (message) => parentPort.postMessage(message);
  const copy = async () => {
    const source = new Database(file, { readonly: true, fileMustExist: true, timeout });
    try {
      source.pragma("trusted_schema = OFF");
      // Within one read transaction, because a write of another connection would begin the copy anew.
      source.exec("BEGIN");
      source.prepare("select count(*) from sqlite_schema").get();
      const pageBytes = source.pragma("page_size", { simple: true });
      await source.backup(target, {
        progress: ({ totalPages, remainingPages }) => {
          const copiedBytes = (totalPages - remainingPages) * pageBytes;
          say({ progress: { copiedBytes, totalBytes: totalPages * pageBytes } });
          return pages;
        },
      });
    } finally {
      source.close();
    }
    say({ progress: "checking" });
    const copied = new Database(target, { fileMustExist: true, timeout });
    try {
      copied.pragma("trusted_schema = OFF");
      copied.pragma("journal_mode = DELETE");
      return copied.pragma("integrity_check(1)", { simple: true }) === "ok";
    } finally {
      copied.close();
    }
  };
  copy().then(
    (isWhole) => say({ isWhole }),
    ({ code, message }) => say({ fault: { code, message } }),
  );
`;

type Message =
  | { readonly progress: CopyProgress }
  | { readonly isWhole: boolean }
  | { readonly fault: { readonly code: unknown; readonly message: string } };

const damaged = (file: string): MemorydError =>
  new MemorydError(
    "failed_precondition",
    `The database ${file} is damaged, so no whole copy of it can be made: restore an earlier backup.`,
    { reason: "DATABASE_DAMAGED" },
  );

const exists = (target: string): MemorydError =>
  new MemorydError("already_exists", `${target} exists already: name another file, or add --force.`, {
    reason: "FILE_EXISTS",
  });

/** The thread's fault as its driver threw it, which only its class makes known. */
const faultFrom = ({ code, message }: { readonly code: unknown; readonly message: string }): Error =>
  typeof code === "string" && code.startsWith("SQLITE_")
    ? new Database.SqliteError(message, code)
    : Object.assign(new Error(message), { code });

/** Resolves when the thread has ended, so that nobody writes the copy any more. */
function runThread(
  copy: string,
  { file, onProgress, signal }: CopyOptions,
): Promise<{ readonly isWhole: boolean }> {
  const driver = createRequire(import.meta.url).resolve("better-sqlite3");
  const workerData = { driver, file, target: copy, timeout: busyTimeoutMs, pages: pagesAtOnce };
  return new Promise((resolve, reject) => {
    const worker = new Worker(program, { eval: true, workerData });
    let outcome: { readonly isWhole: boolean } | undefined;
    let failure: unknown;
    const onAbort = (): void => {
      failure = signal?.reason;
      void worker.terminate();
    };
    signal?.addEventListener("abort", onAbort);
    worker.on("message", (message: Message) => {
      if ("progress" in message) onProgress?.(message.progress);
      else if ("isWhole" in message) outcome = message;
      else failure ??= faultFrom(message.fault);
    });
    worker.once("error", (error) => {
      failure ??= error;
    });
    worker.once("exit", (code) => {
      signal?.removeEventListener("abort", onAbort);
      if (failure === undefined && outcome !== undefined) resolve(outcome);
      else reject(failure ?? new Error(`the thread ended with ${code}`));
    });
  });
}

/** Gives the copy its name; without `replaces` it is never another file's. */
function name(copy: string, { target, replaces }: CopyOptions): void {
  if (replaces) {
    renameSync(copy, target);
    return;
  }
  try {
    linkSync(copy, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") throw exists(target);
    throw error;
  }
  rmSync(copy);
}

/**
 * Copies and checks. Throws `already_exists`, `failed_precondition` for a database that is damaged or none, and
 * `unavailable` when a disk refuses; then nothing is left and `target` is as it was.
 */
export async function copyDatabase(options: CopyOptions): Promise<void> {
  const { file, target, signal } = options;
  signal?.throwIfAborted();
  const copy = `${target}${unfinishedSuffix}${randomHex(6)}`;
  let blamed = target;
  try {
    createPrivateFile(copy);
    blamed = file;
    const { isWhole } = await runThread(copy, options);
    if (!isWhole) throw damaged(file);
    blamed = target;
    name(copy, options);
  } catch (error) {
    for (const end of ["", "-journal", "-wal", "-shm"]) rmSync(`${copy}${end}`, { force: true });
    if (signal?.aborted === true) throw error;
    throw startErrorFrom(error, blamed);
  }
}
