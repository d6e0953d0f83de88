/**
 * Reads off the event loop (design section 6): a few threads, each with a read-only connection, one read at a
 * time each, started when they are first needed. A read that begins after a write was answered sees it. A database in
 * memory has one connection, so its reads hold the event loop for as long as each statement takes.
 *
 * Statements on many rows have `and go_on()` among their conditions, so that a stop and a deadline end them.
 */
import { availableParallelism } from "node:os";
import { MemorydError } from "../../kernel/errors.js";
import { isSqliteError, memorydErrorFromSqlite } from "./errors.js";
import type { Connection } from "./open.js";
import {
  type Parameters,
  type Query,
  type ReaderThread,
  type Row,
  startReaderThread,
} from "./reader-thread.js";
import { stopping } from "./snapshots.js";
import { createStatements } from "./statements.js";

export type Readers = {
  /**
   * Runs a read whose statements all see one state of the database. It must wait for nothing but its
   * statements. Throws `unavailable` when it takes too long or the database closes.
   */
  readonly readAside: <T>(read: (query: Query) => Promise<T>) => Promise<T>;
  /** Ends the running reads with `unavailable`, and the threads. */
  readonly close: () => Promise<void>;
};

/** More than two were not measured to read faster. */
const maxThreads = 2;
/** As long as a unary call may take. */
const maxReadMs = 60_000;

const expired = (): MemorydError =>
  new MemorydError("unavailable", "The read took too long and was ended: ask for less at once.", {
    reason: "READ_EXPIRED",
  });

const translated = (error: unknown): unknown =>
  isSqliteError(error) ? memorydErrorFromSqlite(error) : error;

/** Reads of a database in memory, on its only connection. */
export function createMemoryReaders(connection: Connection): Readers {
  connection.function("go_on", { deterministic: false, directOnly: true }, () => 1);
  const statementsOf = createStatements((of) => {
    const bySql = new Map<string, (parameters: Parameters) => Row[]>();
    return (sql: string): ((parameters: Parameters) => Row[]) => {
      const known = bySql.get(sql);
      if (known !== undefined) return known;
      const statement = of.prepare<[Parameters], Row>(sql);
      const all = (parameters: Parameters): Row[] => statement.all(parameters);
      bySql.set(sql, all);
      return all;
    };
  });
  return {
    readAside: async (read) => {
      try {
        return await read(async (sql, parameters = {}) => statementsOf(connection)(sql)(parameters));
      } catch (error) {
        throw translated(error);
      }
    },
    close: async () => {},
  };
}

type Lease = { readonly thread: ReaderThread; ended?: MemorydError };

/** Reads of the database in `file`; `maxMs` is how long one may take. */
export function createFileReaders(file: string, maxMs: number = maxReadMs): Readers {
  const most = Math.max(1, Math.min(maxThreads, availableParallelism() - 1));
  const idle: ReaderThread[] = [];
  const leases = new Set<Lease>();
  const waiting: (() => void)[] = [];
  let isClosed = false;

  async function acquire(): Promise<Lease> {
    while (!isClosed && leases.size >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    if (isClosed) throw stopping();
    const lease: Lease = { thread: idle.pop() ?? startReaderThread(file) };
    lease.thread.hold(true);
    leases.add(lease);
    return lease;
  }

  function end(lease: Lease, why: MemorydError): void {
    lease.ended ??= why;
    lease.thread.stop();
  }

  async function giveBack(lease: Lease): Promise<void> {
    const { thread } = lease;
    try {
      await thread.endTransaction();
    } catch {
      // Safe to go on: only a thread that is gone refuses, and another is started in its place.
    }
    if (isClosed) await thread.close();
    else if (thread.isAlive()) {
      thread.resume();
      thread.hold(false);
      idle.push(thread);
    }
    leases.delete(lease);
    waiting.shift()?.();
  }

  return {
    readAside: async (read) => {
      const lease = await acquire();
      const timer = setTimeout(() => end(lease, expired()), maxMs);
      try {
        return await read((sql, parameters) => lease.thread.query(sql, parameters));
      } catch (error) {
        throw lease.ended ?? translated(error);
      } finally {
        clearTimeout(timer);
        await giveBack(lease);
      }
    },
    close: async () => {
      isClosed = true;
      for (const lease of leases) end(lease, stopping());
      for (const wake of waiting.splice(0)) wake();
      await Promise.all(idle.splice(0).map((thread) => thread.close()));
      while (leases.size > 0) await new Promise<void>((resolve) => waiting.push(resolve));
    },
  };
}
