/**
 * The use cases that read single records and their history, bring earlier states back and empty them
 * (memory.md M51–M56, M60): check what was asked, decide what absence means, call the port. Knows no wire and
 * no engine.
 */
import { assertRight } from "../kernel/caller.js";
import { type FieldViolation, invalidArgument } from "../kernel/errors.js";
import { keyFromPageToken, pageParametersHash, pageTokenFromKey } from "../kernel/page-token.js";
import { assertValid, type StoredRecord, slugViolations } from "./model.js";
import { preconditionFrom } from "./precondition.js";
import type { CheckedRecord } from "./refs-resolve.js";
import { type CursorRevision, decideRestore, nameNotFound, type RecordRevision } from "./revision.js";
import { assertNoPrecondition, type Call, createNearest, createScopes } from "./service-call.js";
import type { RefsService } from "./service-refs.js";
import {
  createAnswerBudget,
  factsSize,
  recordSize,
  refChecksSize,
  type Size,
  sumOf,
  textSize,
} from "./size.js";
import type { MemoryScope, MemoryStorage } from "./storage.js";
import type { WorkspaceSummary } from "./storage-history.js";
import { type Caps, recordUnreadable, type Stored } from "./upsert.js";
import { pageSizeFrom, recordInView, recordViews, viewFrom } from "./view.js";

export type HistoryOptions = Caps & {
  /** The workspace of calls that name none; a slug. */
  readonly defaultWorkspace: string;
};

type Paging = { readonly pageSize: number; readonly pageToken: string };
type Viewing = { readonly view: number; readonly checkRefs: boolean };

export type BatchOfRecords = {
  readonly records: readonly CheckedRecord[];
  readonly missing: readonly string[];
  /** Those that the answer had no room for. */
  readonly leftOut: readonly string[];
  readonly unreadable: readonly string[];
};

/** `nextPageToken` is empty on the last page. */
export type RevisionsPage<Revision> = {
  readonly revisions: readonly Revision[];
  readonly nextPageToken: string;
};

export type WorkspacesPage = {
  readonly workspaces: readonly (WorkspaceSummary & { readonly rootIds: readonly string[] })[];
  readonly nextPageToken: string;
  readonly defaultWorkspace: string;
};

export type HistoryService = {
  readonly getRecord: (call: Call, request: Viewing & { name: string }) => Promise<CheckedRecord>;
  readonly batchGetRecords: (
    call: Call,
    request: Viewing & { names: readonly string[] },
  ) => Promise<BatchOfRecords>;
  readonly listRecordRevisions: (
    call: Call,
    request: Paging & { name: string; view: number },
  ) => Promise<RevisionsPage<RecordRevision>>;
  readonly listCursorRevisions: (call: Call, request: Paging) => Promise<RevisionsPage<CursorRevision>>;
  /** `revision` 0 is the newest with content before the current state. */
  readonly restoreRecord: (call: Call, request: { name: string; revision: number }) => Promise<StoredRecord>;
  /** Answers how many revisions were emptied. */
  readonly redactRecordRevisions: (call: Call, request: { name: string; cursor: boolean }) => Promise<number>;
  readonly listWorkspaces: (call: Call, request: Paging) => Promise<WorkspacesPage>;
};

const maxBatchNames = 100;
const revisionPages = { byDefault: 20, most: 100 };
const workspacePages = { byDefault: 100, most: 1_000 };

const parametersOf = (method: string, ...parameters: readonly string[]): string =>
  pageParametersHash([`memoryd.records.v1.RecordService/${method}`, ...parameters]);

/** What is wrong with the names of a batch: their number, then each of them. */
export function namesViolations(names: readonly string[], fewest: 0 | 1): FieldViolation[] {
  if (names.length < fewest || names.length > maxBatchNames) {
    return [{ field: "names", description: `must hold ${fewest} to ${maxBatchNames} names` }];
  }
  return names.flatMap((name, index) => slugViolations(`names[${index}]`, name));
}

/** A name in a list, with the frame that JSON puts around it. */
const sizeOfName = (name: string): Size => sumOf(textSize(name), { binary: 2, json: 4 });

const sizeOfRecord = (record: StoredRecord): Size => sumOf(recordSize(record), factsSize(record.writer));

const sizeOfRevision = ({ record, writer }: RecordRevision): Size =>
  record === undefined ? factsSize(writer) : sumOf(recordSize(record), factsSize(writer));

const sizeOfCursor = ({ content, writer }: CursorRevision): Size =>
  sumOf(textSize(content), factsSize(writer));

/** The position that a page of revisions starts before. */
function positionFrom(pageToken: string, parameters: string): number | undefined {
  const key = keyFromPageToken(pageToken, parameters);
  if (key === undefined) return undefined;
  const position = Number(key);
  if (Number.isSafeInteger(position)) return position;
  const description = "is not a token of this daemon; leave it empty to start again";
  throw invalidArgument([{ field: "page_token", description }], "INVALID_PAGE_TOKEN");
}

export function createHistoryService(
  storage: MemoryStorage,
  options: HistoryOptions,
  refs: RefsService,
): HistoryService {
  const scopeOf = createScopes(options.defaultWorkspace);
  const withNearest = createNearest(storage);

  const findRecord = async (scope: MemoryScope, name: string): Promise<StoredRecord> => {
    const stored = await storage.get(scope, name);
    if (stored === undefined) throw nameNotFound();
    if (!stored.readable) throw recordUnreadable();
    return stored;
  };

  /** The scope of a read that may look at refs, and the root that it looks in. */
  const scopeOfRead = async (call: Call, { checkRefs }: Viewing) => {
    assertRight(call.caller, "read");
    const scope = scopeOf(call);
    return { scope, root: checkRefs ? await refs.rootOf(scope, call.root) : undefined };
  };

  /** One page of revisions: at most so many, and as many as an answer may hold. */
  const createPage = <Revision>(count: number, sizeOf: (revision: Revision) => Size) => {
    const hasRoom = createAnswerBudget(count);
    const revisions: Revision[] = [];
    const take = (revision: Revision): boolean => hasRoom(sizeOf(revision)) && revisions.push(revision) > 0;
    return { revisions, take };
  };

  const nextToken = (nextBefore: number | undefined, parameters: string): string =>
    nextBefore === undefined ? "" : pageTokenFromKey(String(nextBefore), parameters);

  return {
    async getRecord(call, request) {
      const { scope, root } = await scopeOfRead(call, request);
      const view = viewFrom(request.view, recordViews.full);
      assertValid(slugViolations("name", request.name));
      const record = await withNearest(scope, request.name, findRecord(scope, request.name));
      const [checked = record] = await refs.withChecks([recordInView(record, view)], request.checkRefs, root);
      return checked;
    },

    async batchGetRecords(call, request) {
      const { scope, root } = await scopeOfRead(call, request);
      const view = viewFrom(request.view, recordViews.full);
      assertValid(namesViolations(request.names, 1));
      const names = [...new Set(request.names)];
      const hasRoom = createAnswerBudget(maxBatchNames, sumOf(...names.map(sizeOfName)));
      const records: StoredRecord[] = [];
      const [missing, leftOut, unreadable]: [string[], string[], string[]] = [[], [], []];
      const see = (name: string, stored: Stored | undefined): void => {
        if (stored === undefined) missing.push(name);
        else if (!stored.readable) unreadable.push(name);
        else {
          const record = recordInView(stored, view);
          const checks = refChecksSize(request.checkRefs ? record.refs.length : 0);
          if (hasRoom(sumOf(sizeOfRecord(record), checks))) records.push(record);
          else leftOut.push(name);
        }
      };
      await storage.getEach(scope, names, see);
      const checked = await refs.withChecks(records, request.checkRefs, root);
      return { records: checked, missing, leftOut, unreadable };
    },

    async listRecordRevisions(call, { name, view: wanted, pageSize, pageToken }) {
      assertRight(call.caller, "read");
      const scope = scopeOf(call);
      const view = viewFrom(wanted, recordViews.full);
      assertValid(slugViolations("name", name));
      const count = pageSizeFrom(pageSize, revisionPages);
      const parameters = parametersOf("ListRecordRevisions", scope.workspace, name);
      const before = positionFrom(pageToken, parameters);
      const { revisions, take } = createPage(count, sizeOfRevision);
      const takeViewed = (revision: RecordRevision): boolean => {
        const { record } = revision;
        return take(record === undefined ? revision : { ...revision, record: recordInView(record, view) });
      };
      const list = async () => {
        const page = await storage.listRevisions(scope, name, { before, take: takeViewed });
        if (page === undefined) throw nameNotFound();
        return page;
      };
      const { nextBefore } = await withNearest(scope, name, list());
      return { revisions, nextPageToken: nextToken(nextBefore, parameters) };
    },

    async listCursorRevisions(call, { pageSize, pageToken }) {
      assertRight(call.caller, "read");
      const scope = scopeOf(call);
      const count = pageSizeFrom(pageSize, revisionPages);
      const parameters = parametersOf("ListCursorRevisions", scope.workspace);
      const before = positionFrom(pageToken, parameters);
      const { revisions, take } = createPage(count, sizeOfCursor);
      const { nextBefore } = await storage.listCursorRevisions(scope, { before, take });
      return { revisions, nextPageToken: nextToken(nextBefore, parameters) };
    },

    async restoreRecord(call, { name, revision }) {
      assertRight(call.caller, "write");
      const scope = scopeOf(call);
      const precondition = preconditionFrom(call.ifUpdateTime);
      assertValid([
        ...slugViolations("name", name),
        ...(revision < 0 ? [{ field: "revision", description: "must not be negative" }] : []),
      ]);
      const decide = decideRestore(precondition, options);
      const stored = await withNearest(scope, name, storage.restore(scope, name, revision, decide));
      if (stored?.readable !== true) throw new Error("a restored record is missing or unreadable");
      return stored;
    },

    async redactRecordRevisions(call, { name, cursor }) {
      assertRight(call.caller, "admin");
      const scope = scopeOf(call);
      assertNoPrecondition(call.ifUpdateTime);
      if (cursor === (name !== "")) {
        throw invalidArgument([{ field: "name", description: "or cursor must be set, and not both" }]);
      }
      if (cursor) return storage.redactCursorRevisions(scope);
      assertValid(slugViolations("name", name));
      const redact = async (): Promise<number> => {
        const emptied = await storage.redactRevisions(scope, name);
        if (emptied === undefined) throw nameNotFound();
        return emptied;
      };
      return withNearest(scope, name, redact());
    },

    async listWorkspaces(call, { pageSize, pageToken }) {
      assertRight(call.caller, "read");
      const count = pageSizeFrom(pageSize, workspacePages);
      const parameters = parametersOf("ListWorkspaces");
      const after = keyFromPageToken(pageToken, parameters);
      const found = await storage.listWorkspaces(after, count + 1);
      const shown = found.slice(0, count);
      const rootIds = await storage.rootIds(shown.map(({ workspace }) => workspace));
      const last = found.length > count ? shown.at(-1)?.workspace : undefined;
      return {
        workspaces: shown.map((summary) => ({ ...summary, rootIds: rootIds.get(summary.workspace) ?? [] })),
        nextPageToken: last === undefined ? "" : pageTokenFromKey(last, parameters),
        defaultWorkspace: options.defaultWorkspace,
      };
    },
  };
}
