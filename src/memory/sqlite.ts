/**
 * The memory storage on SQLite. Point reads and writes use the writer connection, which is never inside a
 * transaction between turns; a list reads in parts from one snapshot, so that a long page lets others run.
 */
import type { SqliteDatabase } from "../db/sqlite/database.js";
import { createStatements } from "../db/sqlite/statements.js";
import type { Clock } from "../kernel/clock.js";
import { randomHex } from "../kernel/ids.js";
import { compareUtf8 } from "../kernel/utf8.js";
import { noExtra } from "./extra.js";
import { limits, type StoredRecord, sameNames, sameStoredRefs, type WriteFacts } from "./model.js";
import { pathFromRef } from "./refs-path.js";
import {
  type CursorRow,
  createGroups,
  cursorContent,
  cursorFromRow,
  type LinkRow,
  type RecordRow,
  type RefRow,
  recordContent,
  storedFromRow,
} from "./rows.js";
import { changeKinds } from "./schema.js";
import { sameSearchedText } from "./search-text.js";
import { createSqliteFiles } from "./sqlite-files.js";
import { createSqliteHistory, type RecordAccess } from "./sqlite-history.js";
import { createSqliteRoots } from "./sqlite-roots.js";
import { createSqliteSearch } from "./sqlite-search.js";
import { epochBytes, prepareStatements, type Statements } from "./sqlite-statements.js";
import { createSqliteSurvey } from "./sqlite-survey.js";
import { createSqliteWatch } from "./sqlite-watch.js";
import type { Counts, MemoryScope, MemoryStorage } from "./storage.js";
import { caseFolded } from "./text.js";
import type { Room, Stored } from "./upsert.js";

const cursorName = "";
/** A list gives up the thread after so much, which takes some milliseconds to read. */
const partRows = 500;
const partCharacters = 1_000_000;
/** Rows that one batch of the sweep deletes, which takes some milliseconds; design section 2 allows 2,000. */
const sweepBatchRows = 500;

export type MemoryStorageOptions = {
  /** Revisions kept of a name, the newest first (memory.revisions_per_record). */
  readonly revisionsPerRecord: number;
  /** Tells daemons apart that share a database, or copies of one (memory.md M70). */
  readonly daemonId?: string;
};

const isBefore = (a: string, b: string): boolean => compareUtf8(a, b) < 0;

type Revision = {
  readonly atMs: number;
  readonly addedRecords: number;
  readonly name: string;
  readonly kind: number;
  readonly content: string | null;
  readonly keep: number;
};

export function createSqliteMemoryStorage(
  database: SqliteDatabase,
  options: MemoryStorageOptions,
  clock: Clock,
): MemoryStorage {
  const statementsOf = createStatements(prepareStatements);
  const own = (): Statements => statementsOf(database.connection);

  /** A read of a row or two, on this thread. */
  const read = <T>(job: (statements: Statements) => T): Promise<T> => database.read(() => job(own()));

  const readRecord = (statements: Statements, workspace: string, name: string): Stored | undefined => {
    const row = statements.record.get(workspace, name) as RecordRow | undefined;
    if (row === undefined) return undefined;
    const refs = statements.refs.all(workspace, name) as RefRow[];
    return storedFromRow(row, refs, statements.links.all(workspace, name) as LinkRow[]);
  };

  const readCursor = (statements: Statements, workspace: string) => {
    const row = statements.cursor.get(workspace) as CursorRow | undefined;
    return row === undefined ? undefined : cursorFromRow(row);
  };

  type WorkspaceRow = {
    position: number;
    trimmed_position: number;
    record_count: number;
    changed_ms: number;
  };
  const readWorkspace = (statements: Statements, workspace: string) =>
    statements.workspace.get(workspace) as WorkspaceRow | undefined;

  const roomOf = (statements: Statements, row: WorkspaceRow | undefined): Room => ({
    recordCount: row?.record_count ?? 0,
    otherWorkspaces: row === undefined ? (statements.workspaceCount.get() as number) : undefined,
  });

  /** The newest time that an absent name ever had; where its revisions may be gone, the workspace's. */
  const newestTime = (
    statements: Statements,
    workspace: string,
    name: string,
    row: WorkspaceRow | undefined,
  ) => {
    const newest = statements.newestTime.get(workspace, name) as number | undefined;
    return newest ?? (row !== undefined && row.trimmed_position > 0 ? row.changed_ms : undefined);
  };

  const nextTime = (newestMs: number | undefined, wantedMs = clock.nowMs()): number =>
    Math.max(wantedMs, newestMs === undefined ? Number.NEGATIVE_INFINITY : newestMs + 1);

  /** Takes the workspace's next position and appends the revision; answers what the write is known by. */
  const appendRevision = (
    statements: Statements,
    { workspace, writer }: MemoryScope,
    row: WorkspaceRow | undefined,
    { atMs, addedRecords, name, kind, content, keep }: Revision,
  ): WriteFacts => {
    // The epoch only counts at birth, and chance is too dear to ask for at every write.
    const epoch = row === undefined ? randomHex(epochBytes) : "";
    const position = { workspace, epoch, at: atMs, added: addedRecords };
    const revision = statements.takePosition.get(position) as number;
    statements.addRevision.run(workspace, revision, name, kind, atMs, writer.user, writer.agent, content);
    statements.trimRevisions.run({ workspace, name, keep });
    return { updatedMs: atMs, revision, writer };
  };

  const putRows = (
    statements: Statements,
    workspace: string,
    record: StoredRecord,
    stored: Stored | undefined,
  ): void => {
    const { name, type, status, body, extra, createdMs, updatedMs, revision, writer } = record;
    const rid = statements.putRecord.get({
      workspace,
      name,
      type,
      status,
      body,
      extra,
      created: createdMs,
      updated: updatedMs,
      revision,
      user: writer.user,
      agent: writer.agent,
      statusKey: caseFolded(status),
    }) as number;
    const known = stored?.readable === true ? stored : undefined;
    if (known === undefined || !sameStoredRefs(known.refs, record.refs)) {
      if (stored !== undefined) statements.dropRefs.run(workspace, name);
      for (const [ordinal, ref] of record.refs.entries()) {
        const { kind, target, baseline } = ref;
        const [bytes, sha256] = [baseline?.bytes ?? null, baseline?.sha256 ?? null];
        const path = pathFromRef(ref);
        statements.addRef.run({ workspace, name, ordinal, kind, target, bytes, sha256, path });
      }
    }
    if (known === undefined || !sameNames(known.references, record.references)) {
      if (stored !== undefined) statements.dropLinks.run(workspace, name);
      for (const [ordinal, linked] of record.references.entries())
        statements.addLink.run(workspace, name, ordinal, linked);
    }
    if (known === undefined || !sameSearchedText(known, record)) indexRecord(workspace, rid, record);
  };

  /** Deletes a name's revisions from the oldest on, so that its deletion is known until all are gone. */
  const sweepBatch = (statements: Statements, beforeMs: number): { names: number; isFull: boolean } => {
    let [names, room] = [0, sweepBatchRows];
    const deleted = statements.longDeleted.all(beforeMs, sweepBatchRows) as DeletedRow[];
    for (const { workspace, name, revision } of deleted) {
      const { changes } = statements.dropRevisions.run({ workspace, name, most: room }) as RunResult;
      room -= changes;
      if (statements.newestTime.get(workspace, name) !== undefined) break;
      statements.noteTrimmed.run({ workspace, revision });
      names += 1;
      if (room === 0) break;
    }
    return { names, isFull: room === 0 };
  };

  /** One part of a list, without giving up the thread: no iterator may stay open while others run. */
  const listPart = (
    statements: Statements,
    workspace: string,
    start: string,
    take: (record: StoredRecord) => boolean,
  ): { unreadable: number; after: string; end: "pause" | "full" | "last" } => {
    const records = statements.recordsAfter.iterate(workspace, start) as IterableIterator<RecordRow>;
    const refs = statements.refsAfter.iterate(workspace, start) as IterableIterator<RefRow>;
    const links = statements.linksAfter.iterate(workspace, start) as IterableIterator<LinkRow>;
    try {
      const refsOf = createGroups(refs, isBefore);
      const linksOf = createGroups(links, isBefore);
      let [after, unreadable, rows, characters] = [start, 0, 0, 0];
      for (const row of records) {
        if (rows >= partRows || characters >= partCharacters) return { unreadable, after, end: "pause" };
        const stored = storedFromRow(row, refsOf(row.name), linksOf(row.name));
        if (!stored.readable) unreadable += 1;
        else if (!take(stored)) return { unreadable, after, end: "full" };
        else characters += stored.refs.reduce((sum, ref) => sum + ref.target.length, stored.body.length);
        after = row.name;
        rows += 1;
      }
      return { unreadable, after, end: "last" };
    } finally {
      for (const iterator of [records, refs, links]) iterator.return?.();
    }
  };

  /** A write within the transaction of the running job. */
  const applyChange: RecordAccess["applyChange"] = (scope, name, decide) => {
    const statements = own();
    const { workspace } = scope;
    const row = readWorkspace(statements, workspace);
    const stored = readRecord(statements, workspace, name);
    const decision = decide(stored, roomOf(statements, row));
    if (decision.kind === "keep" || (decision.kind === "delete" && stored === undefined)) return stored;
    const origin = decision.kind === "put" ? decision.origin : undefined;
    const newestMs = stored?.updatedMs ?? newestTime(statements, workspace, name, row);
    const atMs = nextTime(newestMs, origin?.updatedMs);
    const revision = { atMs, name, keep: options.revisionsPerRecord };
    if (decision.kind === "delete") {
      const deletion = { ...revision, addedRecords: -1, kind: changeKinds.deleted, content: null };
      appendRevision(statements, scope, row, deletion);
      statements.dropRecord.run(workspace, name);
      return undefined;
    }
    const createdMs = stored?.createdMs ?? origin?.createdMs ?? atMs;
    const extra = origin?.extra ?? stored?.extra ?? noExtra;
    const ordinary = stored === undefined ? changeKinds.created : changeKinds.updated;
    const facts = appendRevision(statements, scope, row, {
      ...revision,
      addedRecords: stored === undefined ? 1 : 0,
      kind: origin === undefined ? ordinary : changeKinds[origin.change],
      content: recordContent(decision.fields, createdMs, extra),
    });
    const record: StoredRecord = { readable: true, name, createdMs, extra, ...decision.fields, ...facts };
    putRows(statements, workspace, record, stored);
    return record;
  };

  const recordOn: RecordAccess["recordOn"] = (connection, workspace, name) =>
    readRecord(statementsOf(connection), workspace, name);
  const { indexRecord, mergeIndex, ...search } = createSqliteSearch(database, recordOn);

  return {
    ...createSqliteHistory(database, { recordOn, applyChange, mergeIndex }),
    ...search,
    ...createSqliteFiles(database, recordOn),
    ...createSqliteRoots(database, options.daemonId ?? "", clock),
    ...createSqliteSurvey(database, recordOn),
    ...createSqliteWatch(database),

    list: ({ workspace }, page) =>
      database.snapshot(async (connection, pause) => {
        const statements = statementsOf(connection);
        let unreadable = 0;
        for (let after = page.after ?? ""; ; await pause()) {
          const part = listPart(statements, workspace, after, page.take);
          unreadable += part.unreadable;
          if (part.end === "full") return { unreadable, nextAfter: part.after };
          if (part.end === "last") return { unreadable, nextAfter: undefined };
          after = part.after;
        }
      }),

    get: ({ workspace }, name) => read((statements) => readRecord(statements, workspace, name)),

    change: (scope, name, decide) => database.write(() => applyChange(scope, name, decide)),

    getCursor: ({ workspace }) => read((statements) => readCursor(statements, workspace)),

    changeCursor: (scope, decide) =>
      database.write(() => {
        const statements = own();
        const { workspace } = scope;
        const row = readWorkspace(statements, workspace);
        const stored = readCursor(statements, workspace);
        const decision = decide(stored, roomOf(statements, row));
        if (decision.kind !== "put") return stored;
        const { fields: content, origin } = decision;
        const ordinary = stored === undefined ? changeKinds.created : changeKinds.updated;
        const facts = appendRevision(statements, scope, row, {
          atMs: nextTime(stored?.updatedMs, origin?.updatedMs),
          addedRecords: 0,
          name: cursorName,
          kind: origin === undefined ? ordinary : changeKinds[origin.change],
          content: cursorContent(content),
          keep: limits.earlierCursors + 1,
        });
        const { updatedMs, revision, writer } = facts;
        statements.putCursor.run(workspace, content, updatedMs, revision, writer.user, writer.agent);
        return { content, ...facts };
      }),

    namesOfLength: ({ workspace }, minCharacters, maxCharacters) =>
      read((statements) => statements.namesOfLength.all(workspace, minCharacters, maxCharacters) as string[]),

    async sweepDeleted(beforeMs) {
      for (let swept = 0; ; ) {
        const batch = await database.write(() => sweepBatch(own(), beforeMs));
        swept += batch.names;
        if (!batch.isFull) return swept;
      }
    },

    counts: () => read((statements) => statements.counts.get() as Counts),
  };
}

type RunResult = { readonly changes: number };
type DeletedRow = { readonly workspace: string; readonly name: string; readonly revision: number };
