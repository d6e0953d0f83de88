/**
 * Consistent reads that span turns of the event loop. On disk each runs in one read transaction on a
 * pooled read-only connection, so that writes go on beside it and are not seen by it. In memory there is
 * one connection, so a snapshot never lets go of the event loop.
 *
 * An open snapshot keeps the write-ahead log from being reset, so it is ended after a while even when its
 * reader never comes back. No iterator may be left open over a pause: it would pin the connection.
 */
import { MemorydError } from "../../kernel/errors.js";
import { isSqliteError, memorydErrorFromSqlite } from "./errors.js";
import { type Connection, openReader } from "./open.js";

/**
 * Reads within one state of the database; `pause` lets others run between chunks, and throws
 * `unavailable` once the snapshot was ended.
 */
export type SnapshotRead<T> = (connection: Connection, pause: () => Promise<void>) => Promise<T>;

export type Snapshots = {
  readonly snapshot: <T>(read: SnapshotRead<T>) => Promise<T>;
  /** Ends the open snapshots with `unavailable` and closes their connections. */
  readonly close: () => void;
};

/** More would read no faster, since all of them run on the one thread. */
const maxConnections = 4;
/** As long as a unary call may take. */
const maxSnapshotMs = 60_000;

export const stopping = (): MemorydError =>
  new MemorydError("unavailable", "The daemon is stopping: try again in a moment.", { reason: "STOPPING" });

const expired = (): MemorydError =>
  new MemorydError("unavailable", "The read took too long and was ended: ask for less at once.", {
    reason: "SNAPSHOT_EXPIRED",
  });

/** Snapshots of a database in memory, on its only connection. */
export const createMemorySnapshots = (connection: Connection): Snapshots => ({
  snapshot: (read) => read(connection, () => Promise.resolve()),
  close: () => {},
});

type Lease = { readonly connection: Connection; readonly timer: NodeJS.Timeout; ended?: MemorydError };

/** Snapshots of the database in `file`; `maxMs` is how long one may stay open. */
export function createFileSnapshots(file: string, maxMs: number = maxSnapshotMs): Snapshots {
  const idle: Connection[] = [];
  const leases = new Set<Lease>();
  const waiting: { readonly resolve: () => void; readonly reject: (error: unknown) => void }[] = [];
  let isClosed = false;

  async function acquire(): Promise<Lease> {
    while (!isClosed && leases.size >= maxConnections)
      await new Promise<void>((resolve, reject) => waiting.push({ resolve, reject }));
    if (isClosed) throw stopping();
    const connection = idle.pop() ?? openReader(file);
    connection.exec("BEGIN");
    const lease: Lease = { connection, timer: setTimeout(() => end(lease, expired()), maxMs) };
    leases.add(lease);
    return lease;
  }

  function giveBack(lease: Lease): void {
    if (lease.ended !== undefined) return;
    vacate(lease);
    lease.connection.exec("ROLLBACK");
    idle.push(lease.connection);
  }

  function end(lease: Lease, why: MemorydError): void {
    lease.ended = why;
    vacate(lease);
    lease.connection.close();
  }

  function vacate(lease: Lease): void {
    clearTimeout(lease.timer);
    leases.delete(lease);
    waiting.shift()?.resolve();
  }

  async function readWithin<T>(lease: Lease, read: SnapshotRead<T>): Promise<T> {
    const pause = async (): Promise<void> => {
      await new Promise((resolve) => setImmediate(resolve));
      if (lease.ended !== undefined) throw lease.ended;
    };
    try {
      return await read(lease.connection, pause);
    } catch (error) {
      // A read that did not pause meets its closed connection first; why it was closed says more.
      throw lease.ended ?? error;
    } finally {
      giveBack(lease);
    }
  }

  return {
    snapshot: async (read) => {
      try {
        return await readWithin(await acquire(), read);
      } catch (error) {
        throw isSqliteError(error) ? memorydErrorFromSqlite(error) : error;
      }
    },
    close: () => {
      isClosed = true;
      for (const lease of leases) end(lease, stopping());
      for (const connection of idle.splice(0)) connection.close();
      for (const { reject } of waiting.splice(0)) reject(stopping());
    },
  };
}
