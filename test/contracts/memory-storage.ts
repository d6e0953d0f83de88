/**
 * The promises of `src/memory/storage.ts`, run on every engine. A limit of one engine would be listed here
 * with its reason and run expecting failure; none is known.
 *
 * Each group was seen red with its promise broken in the engine: the merge on a record read before the write,
 * a position counted outside of the write, a time from the clock alone, a list read in parts without a
 * snapshot, rows ordered by UTF-16, revisions not trimmed, and a sweep that forgets what came back.
 */
import { describe } from "vitest";
import type { Clock } from "../../src/kernel/clock.js";
import type { Writer } from "../../src/memory/model.js";
import type { MemoryStorage } from "../../src/memory/storage.js";
import { cursorPromises } from "./memory-storage/cursor.js";
import { listPromises } from "./memory-storage/lists.js";
import { recordPromises } from "./memory-storage/records.js";
import { revisionPromises } from "./memory-storage/revisions.js";
import { sweepPromises } from "./memory-storage/sweep.js";
import { timePromises } from "./memory-storage/times.js";

export type RevisionRow = {
  readonly revision: number;
  /** Empty for the cursor. */
  readonly name: string;
  readonly kind: number;
  readonly atMs: number;
  readonly writer: Writer;
  /** As parsed from JSON. */
  readonly content: unknown;
};

export type WorkspaceFacts = {
  readonly position: number;
  readonly trimmedPosition: number;
  readonly recordCount: number;
};

/** What the port does not show (yet), read from the tables and done to them. */
export type MemoryProbe = {
  /** The revisions of a workspace by number. */
  readonly revisions: (workspace: string) => Promise<RevisionRow[]>;
  readonly workspace: (workspace: string) => Promise<WorkspaceFacts | undefined>;
  /** Makes a row unreadable: an unknown type, an unknown kind of ref, or no refs. */
  readonly damage: (workspace: string, name: string, part: "type" | "kind" | "refs") => Promise<void>;
};

export type OpenedStorage = { readonly storage: MemoryStorage; readonly probe: MemoryProbe };

export type OpenOptions = { readonly clock: Clock; readonly revisionsPerRecord: number };

/** Opens an empty storage that goes with the running test. */
export type OpenStorage = (options: OpenOptions) => Promise<OpenedStorage>;

export function memoryStorageContract(name: string, open: OpenStorage): void {
  describe(`the memory storage on ${name}`, () => {
    recordPromises(open);
    cursorPromises(open);
    timePromises(open);
    revisionPromises(open);
    sweepPromises(open);
    listPromises(open);
  });
}
