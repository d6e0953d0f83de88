/**
 * The port of the memory domain: what its storage promises on every engine (design section 2). The contract
 * suite is `test/contracts/memory-storage.ts`.
 *
 * For all methods: `undefined` means absent; a method is atomic; an acknowledged write is on disk (M42);
 * names sort by UTF-8 bytes. A storage that cannot answer throws `unavailable`.
 */
import type { RecordFields, StoredCursor, StoredRecord, Writer } from "./model.js";
import type { FilesStorage } from "./storage-files.js";
import type { HistoryStorage } from "./storage-history.js";
import type { RootStorage } from "./storage-roots.js";
import type { SearchStorage } from "./storage-search.js";
import type { SurveyStorage } from "./storage-survey.js";
import type { WatchStorage } from "./storage-watch.js";
import type { Decision, Room, Stored } from "./upsert.js";

/** Who is asking, and in which workspace. Workspaces never see each other (M6). */
export type MemoryScope = { readonly workspace: string; readonly writer: Writer };

export type PageRequest = {
  /** The name that the page starts after; absent starts at the first. */
  readonly after: string | undefined;
  /** Takes a record into the page or ends the page before it; called once a record, in order. */
  readonly take: (record: StoredRecord) => boolean;
};

export type Page = {
  /** Rows within the page that do not read as records (M33). */
  readonly unreadable: number;
  /** The last name that the page covers; absent when there is no further record. */
  readonly nextAfter: string | undefined;
};

export type Counts = { readonly workspaces: number; readonly records: number };

export interface MemoryStorage
  extends FilesStorage,
    HistoryStorage,
    RootStorage,
    SearchStorage,
    SurveyStorage,
    WatchStorage {
  /**
   * Hands `take` the readable records after a name, in byte order, from one consistent read; lets others
   * run between parts of a long page. A workspace that does not exist has no records.
   */
  list(scope: MemoryScope, page: PageRequest): Promise<Page>;

  /** The record or unreadable row of that name. */
  get(scope: MemoryScope, name: string): Promise<Stored | undefined>;

  /**
   * Shows `decide` what is stored and does what it answers, both in one transaction that no other write of
   * the workspace comes between; answers what is stored afterwards. `decide` is synchronous and pure and may
   * run more than once; what it throws reaches the caller with nothing written.
   *
   * A write takes the workspace's next position as its revision (M43), sets the update time to the later
   * of the clock and 1 ms past the newest time the name ever had (M39), keeps the create time and the
   * unknown keys, and appends a revision (M50); the workspace is born with its first write (M6). What a put's
   * origin says counts instead: its kind, its unknown keys, its time for the clock's, and where nothing is
   * stored its create time.
   */
  change(
    scope: MemoryScope,
    name: string,
    decide: (stored: Stored | undefined, room: Room) => Decision<RecordFields>,
  ): Promise<Stored | undefined>;

  /** The cursor of the workspace. */
  getCursor(scope: MemoryScope): Promise<StoredCursor | undefined>;

  /** As `change`, for the cursor; a cursor is never deleted. */
  changeCursor(
    scope: MemoryScope,
    decide: (stored: StoredCursor | undefined, room: Room) => Decision<string>,
  ): Promise<StoredCursor | undefined>;

  /** The names of that many characters, in no promised order. */
  namesOfLength(scope: MemoryScope, minCharacters: number, maxCharacters: number): Promise<string[]>;

  /**
   * Forgets the revisions of names that were deleted before the time (milliseconds since 1970), in batches
   * of at most 2,000 rows, each atomic; remembers the highest deletion that went (M50). Answers how many
   * names were forgotten.
   */
  sweepDeleted(beforeMs: number): Promise<number>;

  /** How much there is in all workspaces together. */
  counts(): Promise<Counts>;
}
