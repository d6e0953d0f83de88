/**
 * One thread with a read-only connection of its own, for reads that would hold the event loop. It knows no
 * statement: it runs the ones it is sent, all in one read transaction until that is ended. The driver has no
 * interrupt, so a long statement asks `go_on()` once a row and fails when it is told to stop.
 */
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import Database from "better-sqlite3";
import { busyTimeoutMs } from "./open.js";

/** Named values of a statement. */
export type Parameters = Readonly<Record<string, string | number | null>>;
export type Row = Readonly<Record<string, unknown>>;
export type Query = (sql: string, parameters?: Parameters) => Promise<readonly Row[]>;

export type ReaderThread = {
  /** The rows of a statement, within the transaction, which begins with the first one. */
  readonly query: Query;
  readonly endTransaction: () => Promise<void>;
  /** Lets the running statement fail, and every later one, until `resume`. */
  readonly stop: () => void;
  readonly resume: () => void;
  /** Whether the process stays alive for this thread; it does while somebody waits for it. */
  readonly hold: (isHeld: boolean) => void;
  readonly isAlive: () => boolean;
  /** Closes the connection after the statement that runs; resolves when the thread is gone. */
  readonly close: () => Promise<void>;
};

/** A text, so that the thread starts alike from sources and from what is built of them. */
const program = `
  const { parentPort, workerData: { driver, file, timeout, flag } } = require("node:worker_threads");
  const Database = require(driver);
  const stopped = new Int32Array(flag);
  const connection = new Database(file, { readonly: true, fileMustExist: true, timeout });
  connection.pragma("trusted_schema = OFF");
  connection.function("go_on", { deterministic: false, directOnly: true }, () => {
    if (Atomics.load(stopped, 0) !== 0) throw new Error("the read was stopped");
    return 1;
  });
  const statements = new Map();
  const prepared = (sql) => {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    if (statements.size >= 100) statements.clear();
    const statement = connection.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  const answerTo = ({ kind, sql, parameters }) => {
    if (kind === "query") {
      if (!connection.inTransaction) connection.exec("BEGIN");
      return prepared(sql).all(parameters);
    }
    if (connection.inTransaction) connection.exec("ROLLBACK");
    if (kind === "close") {
      connection.close();
      parentPort.close();
    }
    return [];
  };
  parentPort.on("message", (message) => {
    try {
      parentPort.postMessage({ rows: answerTo(message) });
    } catch ({ code, message: text }) {
      parentPort.postMessage({ fault: { code, text } });
    }
  });
`;

type Message = {
  readonly kind: "query" | "end" | "close";
  readonly sql?: string;
  readonly parameters?: Parameters;
};

type Answer = {
  readonly rows?: readonly Row[];
  readonly fault?: { readonly code: string | undefined; readonly text: string };
};

type Waiting = {
  readonly resolve: (rows: readonly Row[]) => void;
  readonly reject: (error: unknown) => void;
};

const errorFrom = ({ code, text }: NonNullable<Answer["fault"]>): Error =>
  code?.startsWith("SQLITE_") === true ? new Database.SqliteError(text, code) : new Error(text);

/** Starts a thread on the database in `file`. */
export function startReaderThread(file: string): ReaderThread {
  const driver = createRequire(import.meta.url).resolve("better-sqlite3");
  const flag = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const stopped = new Int32Array(flag);
  const workerData = { driver, file, timeout: busyTimeoutMs, flag };
  const worker = new Worker(program, { eval: true, workerData });
  // Answers come in the order of the questions.
  const waiting: Waiting[] = [];
  let ending: Error | undefined;

  const end = (error: Error): void => {
    ending ??= error;
    for (const { reject } of waiting.splice(0)) reject(error);
  };
  worker.on("message", ({ rows = [], fault }: Answer) => {
    const next = waiting.shift();
    if (fault === undefined) next?.resolve(rows);
    else next?.reject(errorFrom(fault));
  });
  worker.once("error", end);
  const gone = new Promise<void>((resolve) =>
    worker.once("exit", () => {
      end(new Error("the thread has ended"));
      resolve();
    }),
  );

  const ask = (message: Message): Promise<readonly Row[]> =>
    new Promise((resolve, reject) => {
      if (ending !== undefined) {
        reject(ending);
        return;
      }
      waiting.push({ resolve, reject });
      worker.postMessage(message);
    });

  return {
    query: (sql, parameters = {}) => ask({ kind: "query", sql, parameters }),
    endTransaction: async () => void (await ask({ kind: "end" })),
    stop: () => void Atomics.store(stopped, 0, 1),
    resume: () => void Atomics.store(stopped, 0, 0),
    hold: (isHeld) => {
      if (isHeld) worker.ref();
      else worker.unref();
    },
    isAlive: () => ending === undefined,
    close: async () => {
      worker.ref();
      if (ending === undefined) worker.postMessage({ kind: "close" });
      await gone;
    },
  };
}
