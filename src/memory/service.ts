/**
 * The use cases of the record contract: check what was asked in the order of M20, decide what absence
 * means, call the port. Knows no wire and no engine; metadata comes as the raw text that a door received.
 */
import { assertRight, type Caller } from "../kernel/caller.js";
import type { Clock } from "../kernel/clock.js";
import { invalidArgument, isMemorydError, MemorydError } from "../kernel/errors.js";
import { keyFromPageToken, pageParametersHash, pageTokenFromKey } from "../kernel/page-token.js";
import { maskFromPaths } from "./mask.js";
import {
  assertValid,
  cursorViolations,
  fieldViolations,
  limits,
  type RecordInput,
  type StoredCursor,
  type StoredRecord,
  slugViolations,
  wholeViolations,
} from "./model.js";
import { nearestEdits, nearestNames } from "./nearest.js";
import { preconditionFrom } from "./precondition.js";
import { createPageBudget } from "./size.js";
import type { Counts, MemoryScope, MemoryStorage } from "./storage.js";
import { type Caps, decideCursor, decideDelete, decideUpdate, recordNotFound } from "./upsert.js";

/** The names of the metadata that calls of this domain read. */
export const workspaceMetadata = "memoryd-workspace";
export const rootMetadata = "memoryd-root";

/** Who asks, and the request metadata as sent (section 2 of memory.md); absent members were not sent. */
export type Call = {
  readonly caller: Caller;
  readonly workspace?: string | undefined;
  readonly ifUpdateTime?: string | undefined;
  readonly root?: string | undefined;
};

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
const rootForm = /^[0-9a-f]{12}$/;

/** Throws what M20a answers to `memoryd-root`: no root can be attached to this daemon, so none is. */
function assertNoRoot(root: string | undefined): void {
  if (root === undefined) return;
  if (!rootForm.test(root)) {
    throw invalidArgument([
      { field: rootMetadata, description: "must be given once, as 12 lower-case hex digits" },
    ]);
  }
  throw new MemorydError(
    "failed_precondition",
    "That root is not attached to this workspace; leave memoryd-root out.",
    {
      reason: "ROOT_NOT_ATTACHED",
    },
  );
}

const listParameters = (workspace: string): string =>
  pageParametersHash(["magus.memory.v1.MemoryService/ListMemories", workspace]);

export function createMemoryService(
  storage: MemoryStorage,
  options: MemoryOptions,
  clock: Clock,
): MemoryService {
  const scopeOf = ({ caller, workspace = options.defaultWorkspace }: Call): MemoryScope => {
    assertValid(slugViolations(workspaceMetadata, workspace));
    return { workspace, writer: { user: caller.user, agent: caller.agent ?? "" } };
  };

  /** Turns a plain "not found" of a decision into one that shows the names that may have been meant. */
  const withNearest = async <T>(scope: MemoryScope, name: string, change: Promise<T>): Promise<T> => {
    try {
      return await change;
    } catch (error) {
      if (!isMemorydError(error) || error.code !== "not_found") throw error;
      const names = await storage.namesOfLength(
        scope,
        name.length - nearestEdits,
        name.length + nearestEdits,
      );
      throw recordNotFound(nearestNames(name, names));
    }
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
      assertNoRoot(call.root);
      const mask = maskFromPaths(maskPaths);
      if (record === undefined) throw invalidArgument([{ field: "memory", description: "must be set" }]);
      assertValid([
        ...slugViolations("memory.name", record.name),
        ...(mask.kind === "full" ? wholeViolations(record) : fieldViolations(record, mask.fields)),
      ]);
      const decide = decideUpdate({ input: record, mask, allowMissing, precondition }, options);
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
