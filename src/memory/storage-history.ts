/**
 * The part of the memory port that reads single records and history, brings earlier states back and empties
 * them. What `storage.ts` says of all methods holds here; the contract suite is
 * `test/contracts/memory-history.ts`.
 */
import type { RecordFields } from "./model.js";
import type { CursorRevision, RecordRevision, Restorable } from "./revision.js";
import type { MemoryScope } from "./storage.js";
import type { Decision, Room, Stored } from "./upsert.js";

export type RevisionPageRequest<Revision> = {
  /** The page holds what was written before this position; absent starts at the newest. */
  readonly before: number | undefined;
  /** Takes a revision into the page or ends the page before it; called once a revision, newest first. */
  readonly take: (revision: Revision) => boolean;
};

export type RevisionPage = {
  /** Where the next page starts; absent when there is no older revision. */
  readonly nextBefore: number | undefined;
};

export type WorkspaceSummary = {
  readonly workspace: string;
  readonly recordCount: number;
  /** When it was last written; absent when nothing ever was. */
  readonly updatedMs: number | undefined;
};

export interface HistoryStorage {
  /**
   * Shows `see` what is stored under each of the names, in their order, all from one consistent read; lets
   * others run between parts of a long one.
   */
  getEach(
    scope: MemoryScope,
    names: readonly string[],
    see: (name: string, stored: Stored | undefined) => void,
  ): Promise<void>;

  /**
   * Hands `take` the kept revisions of a name, newest first, from one consistent read; a deleted name has
   * them too. `undefined` when no revision of the name is kept.
   */
  listRevisions(
    scope: MemoryScope,
    name: string,
    page: RevisionPageRequest<RecordRevision>,
  ): Promise<RevisionPage | undefined>;

  /** The same for the cursor; the first is the live value. A cursor never written has none. */
  listCursorRevisions(scope: MemoryScope, page: RevisionPageRequest<CursorRevision>): Promise<RevisionPage>;

  /**
   * As `change`, and shows `decide` the revision with that position as well, or for 0 the newest that has
   * content and is older than what is stored; all in the one transaction.
   */
  restore(
    scope: MemoryScope,
    name: string,
    revision: number,
    decide: (found: Restorable, stored: Stored | undefined, room: Room) => Decision<RecordFields>,
  ): Promise<Stored | undefined>;

  /**
   * Empties the content of all revisions of a name but, while it is stored, the newest; their kinds, times
   * and writers stay, and no position is taken. Answers how many were emptied by this call, `undefined` when
   * no revision of the name is kept.
   *
   * Once answered, the emptied text, and what was overwritten or deleted before, is in no file of the
   * database (M51), also when nothing was left to empty; backups are not looked at. Throws `unavailable`
   * when the files could not be cleaned: the revisions are empty then, and the same call tries again.
   */
  redactRevisions(scope: MemoryScope, name: string): Promise<number | undefined>;

  /** The same for all values of the cursor but the live one; 0 when it was never written. */
  redactCursorRevisions(scope: MemoryScope): Promise<number>;

  /** At most so many workspaces after one, in byte order. */
  listWorkspaces(after: string | undefined, limit: number): Promise<WorkspaceSummary[]>;
}
