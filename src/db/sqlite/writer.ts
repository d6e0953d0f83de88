/**
 * Group commit (memory.md M42, MV45): synchronous jobs wait in a queue, all that wait run in one
 * transaction, and none is answered before its commit is on disk. So any number of callers share one fsync.
 *
 * | what fails                                | who is refused                                          |
 * | ----------------------------------------- | ------------------------------------------------------- |
 * | a job throws, the transaction lives on    | that job, undone by its savepoint                       |
 * | SQLite undid the whole batch, or its      | nobody yet: each job of it runs again by itself, and    |
 * | commit failed                             | only one that fails so is refused                       |
 * | no transaction can begin                  | every waiting job, as none of them is at fault          |
 *
 * A job may therefore run twice; what it read or changed outside the database must not matter.
 */
import { MemorydError } from "../../kernel/errors.js";
import { isSqliteError, memorydErrorFromSqlite } from "./errors.js";
import type { Connection } from "./open.js";

type Job = {
  readonly run: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
};

export type Writer = {
  /** Resolves after the commit is on disk; rejects with what the job threw, or why it could not be kept. */
  readonly write: <T>(job: () => T) => Promise<T>;
  /** Jobs that wait for their transaction. */
  readonly queueDepth: () => number;
  /** Calls back with the number of jobs of each commit. */
  readonly onBatch: (listener: (jobs: number) => void) => void;
  /** Runs `use` while jobs wait, one such use after the other; a close waits for it too. */
  readonly hold: <T>(use: () => Promise<T>) => Promise<T>;
  /** Why something of the newest batch could not be kept; `undefined` when all of it could. */
  readonly fault: () => MemorydError | undefined;
  /** Takes no more jobs and resolves when those that wait are answered. */
  readonly close: () => Promise<void>;
};

const maxBatchJobs = 512;
/** A batch ends after so long, so that requests are heard in between. */
const maxBatchMs = 5;
/** Reading the time costs as much as a small job, so it is read once in so many. */
const jobsBetweenLooks = 16;

/** What a job threw itself is its caller's answer as it is; a fault of the driver is translated. */
const refusalFrom = (error: unknown): unknown =>
  isSqliteError(error) ? memorydErrorFromSqlite(error) : error;

/** The fault of the disk, if that is what a job failed for. */
const faultFrom = (error: unknown): MemorydError | undefined => {
  const fault = isSqliteError(error) ? memorydErrorFromSqlite(error) : undefined;
  return fault?.code === "unavailable" ? fault : undefined;
};

const stopping = (): MemorydError =>
  new MemorydError("unavailable", "The daemon is stopping: try again in a moment.", { reason: "STOPPING" });

export function createWriter(connection: Connection): Writer {
  const begin = connection.prepare("BEGIN IMMEDIATE");
  const commit = connection.prepare("COMMIT");
  const rollback = connection.prepare("ROLLBACK");
  const savepoint = connection.prepare("SAVEPOINT job");
  const undo = connection.prepare("ROLLBACK TO job");
  const release = connection.prepare("RELEASE job");

  const queue: Job[] = [];
  const listeners: ((jobs: number) => void)[] = [];
  let isScheduled = false;
  /** Uses that jobs wait for; the last settles when all before it have. */
  let holds = 0;
  let lastHold: Promise<unknown> = Promise.resolve();
  /** So many of the next jobs run by themselves, because the batch they were in was lost. */
  let alone = 0;
  let fault: MemorydError | undefined;
  let batchFault: MemorydError | undefined;
  let whenIdle: (() => void) | undefined;
  let closed: Promise<void> | undefined;

  function schedule(): void {
    if (isScheduled || holds > 0 || queue.length === 0) return;
    isScheduled = true;
    setImmediate(flush);
  }

  function flush(): void {
    isScheduled = false;
    if (holds > 0) return;
    if (beginBatch()) runBatch();
    if (queue.length === 0) whenIdle?.();
    schedule();
  }

  function beginBatch(): boolean {
    try {
      if (connection.inTransaction) rollback.run();
      begin.run();
      return true;
    } catch (error) {
      fault = memorydErrorFromSqlite(error);
      const reason = fault;
      alone = 0;
      for (const job of queue.splice(0)) job.reject(reason);
      return false;
    }
  }

  function runBatch(): void {
    const most = alone > 0 ? 1 : maxBatchJobs;
    const answers: (() => void)[] = [];
    const startedMs = performance.now();
    let taken = 0;
    const isLate = (): boolean =>
      taken > 0 && taken % jobsBetweenLooks === 0 && performance.now() - startedMs >= maxBatchMs;
    batchFault = undefined;
    try {
      for (let job = queue[0]; job !== undefined && taken < most && !isLate(); job = queue[taken]) {
        taken += 1;
        answers.push(runJob(job));
      }
      commit.run();
    } catch (error) {
      batchLost(taken, error);
      return;
    }
    queue.splice(0, taken);
    alone = Math.max(alone - taken, 0);
    fault = batchFault;
    for (const answer of answers) answer();
    for (const listener of listeners) listener(taken);
  }

  /** Runs one job in its savepoint; throws when the transaction it stood in is gone. */
  function runJob(job: Job): () => void {
    savepoint.run();
    let answer: () => void;
    try {
      const value = job.run();
      answer = () => job.resolve(value);
    } catch (error) {
      if (!connection.inTransaction) throw error;
      undo.run();
      const reason = refusalFrom(error);
      batchFault ??= faultFrom(error);
      answer = () => job.reject(reason);
    }
    release.run();
    return answer;
  }

  function batchLost(jobs: number, error: unknown): void {
    try {
      if (connection.inTransaction) rollback.run();
    } catch {
      // Safe to go on: nobody was answered, and the next batch undoes what is left before it begins.
    }
    if (jobs > 1) {
      alone = jobs;
      return;
    }
    alone = Math.max(alone - 1, 0);
    fault = faultFrom(error) ?? fault;
    queue.shift()?.reject(refusalFrom(error));
  }

  return {
    write: <T>(run: () => T) =>
      new Promise<T>((resolve, reject) => {
        if (closed !== undefined) {
          reject(stopping());
          return;
        }
        queue.push({ run, resolve: resolve as (value: unknown) => void, reject });
        schedule();
      }),
    queueDepth: () => queue.length,
    onBatch: (listener) => void listeners.push(listener),
    hold: async (use) => {
      if (closed !== undefined) throw stopping();
      holds += 1;
      const held = lastHold.then(use);
      lastHold = held.catch(() => {});
      try {
        return await held;
      } finally {
        holds -= 1;
        schedule();
      }
    },
    fault: () => fault,
    close: () => {
      closed ??= lastHold.then(
        () =>
          new Promise((resolve) => {
            if (queue.length === 0) resolve();
            else whenIdle = resolve;
          }),
      );
      return closed;
    },
  };
}
