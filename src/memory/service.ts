/**
 * The use cases of the record contract: check what was asked in the order of M20, decide what absence
 * means, call the port. Knows no wire and no engine; metadata comes as the raw text that a door received.
 */
import { assertRight } from "../kernel/caller.js";
import type { Clock } from "../kernel/clock.js";
import { invalidArgument } from "../kernel/errors.js";
import { keyFromPageToken, pageParametersHash, pageTokenFromKey } from "../kernel/page-token.js";
import { type Mask, maskFromPaths } from "./mask.js";
import {
  assertValid,
  cursorViolations,
  fieldsFromInput,
  fieldViolations,
  limits,
  type RecordInput,
  type Ref,
  type StoredCursor,
  type StoredRecord,
  slugViolations,
  wholeViolations,
} from "./model.js";
import { preconditionFrom } from "./precondition.js";
import type { Root } from "./roots.js";
import { type Call, createNearest, createScopes } from "./service-call.js";
import type { RefsService } from "./service-refs.js";
import { createPageBudget } from "./size.js";
import type { Counts, MemoryScope, MemoryStorage } from "./storage.js";
import { type Caps, decideCursor, decideDelete, decideUpdate } from "./upsert.js";

export type ListedRecords = {
  readonly records: readonly StoredRecord[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
  /** Rows of this page that no longer read as records (M33). */
  readonly skippedRecords: number;
};

export type UpdateRequest = {
  /** Absent when the caller sent no record at all. */
  readonly record: RecordInput | undefined;
  readonly maskPaths: readonly string[];
  readonly allowMissing: boolean;
};

export type MemoryOptions = Caps & {
  /** The workspace of calls that name none; a slug. */
  readonly defaultWorkspace: string;
  /** Days that the revisions of a deleted name are kept; 0 keeps them for ever. */
  readonly deletedKeepDays: number;
};

export type MemoryService = {
  readonly listMemories: (
    call: Call,
    request: { pageSize: number; pageToken: string },
  ) => Promise<ListedRecords>;
  readonly updateMemory: (call: Call, request: UpdateRequest) => Promise<StoredRecord>;
  readonly deleteMemory: (call: Call, request: { name: string; allowMissing: boolean }) => Promise<void>;
  /** `undefined` while no cursor was written. */
  readonly getCursor: (call: Call) => Promise<StoredCursor | undefined>;
  readonly updateCursor: (call: Call, request: { content: string }) => Promise<StoredCursor>;
  /** Forgets revisions of names deleted long ago (M50); answers how many names. */
  readonly sweep: () => Promise<number>;
  readonly counts: () => Promise<Counts>;
};

const dayMs = 24 * 60 * 60 * 1_000;
const listParameters = (workspace: string): string =>
  pageParametersHash(["magus.memory.v1.MemoryService/ListMemories", workspace]);

export function createMemoryService(
  storage: MemoryStorage,
  options: MemoryOptions,
  clock: Clock,
  refs: RefsService,
): MemoryService {
  const scopeOf = createScopes(options.defaultWorkspace);
  const withNearest = createNearest(storage);

  /** The refs whose files a write looks at: those that it sets, and those of a record whose body it sets (M74). */
  const refsSetBy = async (
    scope: MemoryScope,
    record: RecordInput,
    mask: Mask,
    root: Root | undefined,
  ): Promise<readonly Ref[]> => {
    if (root === undefined) return [];
    if (mask.kind === "full" || mask.fields.includes("refs")) return fieldsFromInput(record).refs;
    const stored = await storage.get(scope, record.name);
    // All fields count where nothing is stored; those that are refused for it are not worth a look.
    if (stored === undefined) return wholeViolations(record).length > 0 ? [] : fieldsFromInput(record).refs;
    return mask.fields.includes("body") && stored.readable ? stored.refs : [];
  };

  return {
    async listMemories(call, { pageSize, pageToken }) {
      assertRight(call.caller, "read");
      const scope = scopeOf(call);
      if (pageSize < 0)
        throw invalidArgument([
          { field: "page_size", description: "must not be negative; 0 asks for all that fits" },
        ]);
      const parameters = listParameters(scope.workspace);
      const after = keyFromPageToken(pageToken, parameters);
      const hasRoom = createPageBudget(
        pageSize === 0 ? Number.POSITIVE_INFINITY : Math.min(pageSize, limits.pageSize),
      );
      const records: StoredRecord[] = [];
      const take = (record: StoredRecord): boolean => hasRoom(record) && records.push(record) > 0;
      const page = await storage.list(scope, { after, take });
      return {
        records,
        nextPageToken: page.nextAfter === undefined ? "" : pageTokenFromKey(page.nextAfter, parameters),
        skippedRecords: page.unreadable,
      };
    },

    async updateMemory(call, { record, maskPaths, allowMissing }) {
      assertRight(call.caller, "write");
      const scope = scopeOf(call);
      const precondition = preconditionFrom(call.ifUpdateTime);
      const root = await refs.rootOf(scope, call.root);
      const mask = maskFromPaths(maskPaths);
      if (record === undefined) throw invalidArgument([{ field: "memory", description: "must be set" }]);
      assertValid([
        ...slugViolations("memory.name", record.name),
        ...(mask.kind === "full" ? wholeViolations(record) : fieldViolations(record, mask.fields)),
      ]);
      const baselines = await refs.baselinesOf(root, await refsSetBy(scope, record, mask, root));
      const decide = decideUpdate({ input: record, mask, allowMissing, precondition, baselines }, options);
      const stored = await withNearest(scope, record.name, storage.change(scope, record.name, decide));
      if (stored?.readable !== true) throw new Error("an updated record is missing or unreadable");
      return stored;
    },

    async deleteMemory(call, { name, allowMissing }) {
      assertRight(call.caller, "write");
      const scope = scopeOf(call);
      const precondition = preconditionFrom(call.ifUpdateTime);
      if (precondition.kind === "absent") {
        throw invalidArgument([
          {
            field: "memoryd-if-update-time",
            description: "cannot be `absent` when something is to be deleted",
          },
        ]);
      }
      assertValid(slugViolations("name", name));
      await withNearest(scope, name, storage.change(scope, name, decideDelete(allowMissing, precondition)));
    },

    async getCursor(call) {
      assertRight(call.caller, "read");
      return storage.getCursor(scopeOf(call));
    },

    async updateCursor(call, { content }) {
      assertRight(call.caller, "write");
      const scope = scopeOf(call);
      const precondition = preconditionFrom(call.ifUpdateTime);
      assertValid(cursorViolations(content));
      const stored = await storage.changeCursor(scope, decideCursor(content, precondition, options));
      if (stored === undefined) throw new Error("an updated cursor is missing");
      return stored;
    },

    async sweep() {
      if (options.deletedKeepDays === 0) return 0;
      return storage.sweepDeleted(clock.nowMs() - options.deletedKeepDays * dayMs);
    },

    counts: () => storage.counts(),
  };
}
