/**
 * A SQLite database as the storages use it: owned, migrated, written by group commit, read in snapshots.
 * Knows engines, knows no domain's table. The order of a start: ownership, is the file ours, migrations,
 * then use; the order of a stop is the reverse, and ownership is let go last.
 */
import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Clock } from "../../kernel/clock.js";
import { isMemorydError, MemorydError } from "../../kernel/errors.js";
import type { Log } from "../../kernel/log.js";
import type { Migration } from "../migrate.js";
import { damagedReason, memorydErrorFromSqlite, startErrorFrom } from "./errors.js";
import { assertOurs, migrateSqlite } from "./migrate.js";
import { becomeWriter, type Connection, createPrivateFile, inMemory, openUntouched } from "./open.js";
import { acquireOwnership, type Ownership } from "./ownership.js";
import { createFileReaders, createMemoryReaders, type Readers } from "./readers.js";
import { scrubFile } from "./scrub.js";
import {
  createFileSnapshots,
  createMemorySnapshots,
  type SnapshotRead,
  type Snapshots,
} from "./snapshots.js";
import { createWriter, type Writer } from "./writer.js";

export type SqliteDatabase = {
  /** The writer's connection, to be used within `write` and `read`: between turns it is in no transaction. */
  readonly connection: Connection;
  /** Runs a synchronous point read on {@link connection}; rejects with an error of ours. */
  readonly read: <T>(job: () => T) => Promise<T>;
  /**
   * Queues a synchronous job into the group commit. Resolves after the commit is on disk; rejects with what
   * the job threw, or with `unavailable` when it could not be kept, and then nothing of it was written. The
   * job may run twice.
   */
  readonly write: <T>(job: () => T) => Promise<T>;
  /** One consistent read that may span turns; see {@link SnapshotRead}. */
  readonly snapshot: <T>(read: SnapshotRead<T>) => Promise<T>;
  /** One consistent read that would hold the event loop, on a thread of its own; see {@link Readers}. */
  readonly readAside: Readers["readAside"];
  /** Bytes of the database, its log included. */
  readonly sizeBytes: () => number;
  /** Jobs that wait for their transaction. */
  readonly queueDepth: () => number;
  /** Calls back with the number of jobs of each commit. */
  readonly onBatch: (listener: (jobs: number) => void) => void;
  /**
   * Throws `unavailable` unless the database can be read and written now, and from the first read or write on
   * that found it damaged: what is whole still answers, and would hide what is not.
   */
  readonly check: () => Promise<void>;
  /**
   * Leaves nothing in the files of what was deleted or overwritten before; writes wait meanwhile. Throws
   * `unavailable` when the disk refuses, or when readers held on to the log for too long.
   */
  readonly scrub: () => Promise<void>;
  /**
   * Answers what is queued, calls `lastUse`, which may still read, empties the log into the file, closes, and
   * lets go of the ownership last.
   */
  readonly close: (lastUse?: () => void) => Promise<void>;
};

/** A little longer than the longest read. */
const maxScrubMs = 65_000;
const scrubPauseMs = 100;

export type OpenSqliteOptions = {
  /** An absolute path, or `:memory:`. */
  readonly file: string;
  readonly migrations: readonly Migration[];
  /** Where a backup goes before a migration; `backups` beside the file when left out. */
  readonly backupsDir?: string;
  /** The version of this memoryd. */
  readonly version: string;
  readonly log: Log;
  readonly clock: Clock;
};

type Opened = {
  readonly connection: Connection;
  readonly snapshots: Snapshots;
  readonly readers: Readers;
  readonly sizeBytes: () => number;
  readonly assertInPlace: () => void;
  /** As `scrubFile`; there is nothing to scrub in memory. */
  readonly scrub: (isRewritten: boolean) => Promise<boolean>;
  readonly release: () => void;
};

/**
 * Opens, and creates where nothing is. Throws `unavailable` (DATABASE_OWNED, or why the disk refuses) and
 * `failed_precondition` (a file that is not ours, or that does not fit this binary).
 */
export async function openSqliteDatabase(options: OpenSqliteOptions): Promise<SqliteDatabase> {
  const opened = options.file === inMemory ? await openInMemory(options) : await openOnDisk(options);
  return databaseFrom(opened, createWriter(opened.connection), options.log);
}

async function openInMemory(options: OpenSqliteOptions): Promise<Opened> {
  const connection = openUntouched(inMemory);
  becomeWriter(connection);
  await migrateSqlite(connection, { ...options, backupsDir: "" });
  const pages = connection.prepare("select page_count * page_size from pragma_page_count, pragma_page_size");
  return {
    connection,
    snapshots: createMemorySnapshots(connection),
    readers: createMemoryReaders(connection),
    sizeBytes: () => Number(pages.pluck().get()),
    assertInPlace: () => {},
    scrub: () => Promise.resolve(true),
    release: () => {},
  };
}

async function openOnDisk(options: OpenSqliteOptions): Promise<Opened> {
  const ownership = acquireOwnership(options.file);
  let connection: Connection | undefined;
  try {
    const { file } = ownership;
    createPrivateFile(file);
    const opened = openUntouched(file);
    connection = opened;
    assertOurs(opened);
    becomeWriter(opened);
    await migrateSqlite(opened, {
      ...options,
      backupsDir: options.backupsDir ?? join(dirname(file), "backups"),
    });
    return onDisk(opened, ownership);
  } catch (error) {
    connection?.close();
    ownership.release();
    throw startErrorFrom(error, options.file);
  }
}

function onDisk(connection: Connection, { file, release }: Ownership): Opened {
  const bytesOf = (name: string): number => statSync(name, { throwIfNoEntry: false })?.size ?? 0;
  const { ino } = statSync(file);
  return {
    connection,
    snapshots: createFileSnapshots(file),
    readers: createFileReaders(file),
    sizeBytes: () => bytesOf(file) + bytesOf(`${file}-wal`),
    assertInPlace: () => {
      if (statSync(file, { throwIfNoEntry: false })?.ino === ino) return;
      throw new MemorydError(
        "unavailable",
        "The database file was moved or deleted while the daemon ran: stop it, put the file back, start again.",
        { reason: "DATABASE_MOVED" },
      );
    },
    scrub: (isRewritten) => scrubFile(file, isRewritten),
    release,
  };
}

function databaseFrom(opened: Opened, writer: Writer, log: Log): SqliteDatabase {
  const { connection, snapshots, readers } = opened;
  const probe = connection.prepare("select count(*) from memoryd_migrations");
  let closing: Promise<void> | undefined;
  let damage: MemorydError | undefined;

  const noteDamage = (error: unknown): never => {
    if (isMemorydError(error) && error.reason === damagedReason) damage ??= error;
    throw error;
  };
  const write = <T>(job: () => T): Promise<T> => writer.write(job).catch(noteDamage);
  const snapshot = <T>(read: SnapshotRead<T>): Promise<T> => snapshots.snapshot(read).catch(noteDamage);
  const read = async <T>(job: () => T): Promise<T> => {
    try {
      return job();
    } catch (error) {
      return noteDamage(memorydErrorFromSqlite(error));
    }
  };

  async function check(): Promise<void> {
    opened.assertInPlace();
    // A full disk shows only when something is written, and that is worth an fsync only after a fault.
    await write(writer.fault() === undefined ? () => {} : () => touch(connection));
    await read(() => probe.get());
    if (damage === undefined) return;
    throw new MemorydError("unavailable", damage.message, { reason: damagedReason, cause: damage });
  }

  /** Writes pass between two tries, so that a slow reader holds up the answer and nobody else. */
  async function scrub(): Promise<void> {
    const untilMs = performance.now() + maxScrubMs;
    for (let isRewritten = false; !(await writer.hold(() => opened.scrub(isRewritten))); isRewritten = true) {
      if (performance.now() > untilMs) {
        throw new MemorydError(
          "unavailable",
          "The database is being read without a pause: make the same call again in a while.",
          { reason: "SCRUB_FAILED" },
        );
      }
      await setTimeout(scrubPauseMs);
    }
  }

  async function close(lastUse?: () => void): Promise<void> {
    await writer.close();
    snapshots.close();
    lastUse?.();
    await readers.close();
    try {
      connection.pragma("wal_checkpoint(TRUNCATE)");
    } catch (error) {
      // Safe to go on: the log holds what was acknowledged, and the next start reads it.
      log.warn({ error }, "the log could not be emptied at the stop");
    }
    connection.close();
    opened.release();
  }

  return {
    connection,
    read,
    write,
    snapshot,
    readAside: (question) => readers.readAside(question).catch(noteDamage),
    sizeBytes: opened.sizeBytes,
    queueDepth: writer.queueDepth,
    onBatch: writer.onBatch,
    check,
    scrub,
    close: (lastUse) => {
      closing ??= close(lastUse);
      return closing;
    },
  };
}

/** A write of four bytes in the file's header, where no table is needed and nothing reads them. */
function touch(connection: Connection): void {
  const count = Number(connection.pragma("user_version", { simple: true }));
  connection.pragma(`user_version = ${(count + 1) % 1_000_000}`);
}
