/**
 * Takes text that was deleted or overwritten out of a database file (memory.md M51). `secure_delete` overwrites
 * what is deleted where it stands, but not the copies that stay behind when SQLite moves rows between pages,
 * so the whole file is rewritten and the log emptied. That takes seconds for a large file: a thread does it,
 * while the caller sees to it that nothing is written.
 */
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { MemorydError } from "../../kernel/errors.js";

/** How long the log may be in use by readers before the caller lets writes pass and tries again. */
const busyTimeoutMs = 200;

/** A text, so that the thread starts alike from sources and from what is built of them. */
const program = `
  const { parentPort, workerData: { driver, file, timeout, isRewritten } } = require("node:worker_threads");
  const Database = require(driver);
  const connection = new Database(file, { fileMustExist: true, timeout });
  try {
    connection.pragma("synchronous = FULL");
    if (!isRewritten) connection.exec("VACUUM");
    const [{ busy }] = connection.pragma("wal_checkpoint(TRUNCATE)");
    parentPort.postMessage(busy === 0);
  } finally {
    connection.close();
  }
`;

const failed = (cause: unknown): MemorydError =>
  new MemorydError(
    "unavailable",
    "The database files could not be rewritten: make room on the disk and make the same call again.",
    { reason: "SCRUB_FAILED", cause },
  );

/**
 * Rewrites the file, unless that was done before, and empties its log; false when readers still need the log.
 * Nothing may be written meanwhile. Throws `unavailable` when the disk refuses.
 */
export function scrubFile(file: string, isRewritten: boolean): Promise<boolean> {
  const driver = createRequire(import.meta.url).resolve("better-sqlite3");
  const workerData = { driver, file, timeout: busyTimeoutMs, isRewritten };
  return new Promise((resolve, reject) => {
    const worker = new Worker(program, { eval: true, workerData });
    let isEmpty: boolean | undefined;
    worker.once("message", (value: boolean) => {
      isEmpty = value;
    });
    worker.once("error", (error) => reject(failed(error)));
    worker.once("exit", (code) => {
      if (isEmpty === undefined) reject(failed(new Error(`the thread ended with ${code}`)));
      else resolve(isEmpty);
    });
  });
}
