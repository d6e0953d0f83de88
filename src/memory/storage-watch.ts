/**
 * The part of the memory port that shows changes in the order of their positions, and says when to look for
 * more. What `storage.ts` says of all methods holds here; the contract suite is `test/contracts/memory-watch.ts`.
 */
import type { StoredRecord, Writer } from "./model.js";
import type { MemoryScope } from "./storage.js";
import type { Standing } from "./watch-position.js";

/** One write, as its revision tells it. */
export type Change = {
  /** The position of the write. */
  readonly revision: number;
  /** A number of `changeKinds`. */
  readonly kind: number;
  /** Absent for the cursor. */
  readonly name: string | undefined;
  readonly atMs: number;
  readonly writer: Writer;
  /** The record after the write, where that was asked for and is still kept. */
  readonly record: StoredRecord | undefined;
};

export type ChangesRequest = {
  /** The position that the page starts after. */
  readonly after: number;
  readonly withRecords: boolean;
  readonly withCursor: boolean;
};

export type ChangesPage = {
  /** Where the workspace stands; absent when it does not exist. */
  readonly standing: Standing | undefined;
  readonly changes: readonly Change[];
  /** What the page covers, skipped changes among it; the next page starts after it. */
  readonly upTo: number;
};

export interface WatchStorage {
  /** Where the workspace stands; absent when it does not exist. */
  getStanding(scope: MemoryScope): Promise<Standing | undefined>;

  /**
   * Kept revisions after a position, by position, and where the workspace stands, all from one moment; only
   * of writes that are on disk. A page is small, and covers one revision at least where there is any; of a
   * name written more often than revisions are kept, the newest is always there.
   */
  changesAfter(scope: MemoryScope, request: ChangesRequest): Promise<ChangesPage>;

  /**
   * Calls `listener` after each commit that moved the workspace, once its writes can be read, whoever made
   * them in this process; perhaps also when nothing moved. Answers how to stop that.
   */
  onWrite(scope: MemoryScope, listener: () => void): () => void;
}
