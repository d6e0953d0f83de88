/**
 * History on SQLite: kept revisions, restore and redaction, and single records by name. How a write is made
 * is handed in; the long reads go in parts through a snapshot, so that others run in between.
 */
import type { SqliteDatabase } from "../db/sqlite/database.js";
import type { Connection } from "../db/sqlite/open.js";
import { createStatements } from "../db/sqlite/statements.js";
import type { RecordFields } from "./model.js";
import type { Restorable } from "./revision.js";
import { cursorRevisionFromRow, type RevisionRow, recordRevisionFromRow } from "./rows-revisions.js";
import type { PreparedStatement } from "./sqlite-statements.js";
import type { MemoryScope } from "./storage.js";
import type { HistoryStorage, RevisionPage, RevisionPageRequest } from "./storage-history.js";
import type { Decision, Room, Stored } from "./upsert.js";

const cursorName = "";
/** A read gives up the thread after so much, which takes some milliseconds to read. */
const partCharacters = 1_000_000;

const revisionColumns = "revision, name, kind, at_ms, writer_user, writer_agent, content";

type HistoryStatements = ReturnType<typeof prepareHistory>;

function prepareHistory(connection: Connection) {
  const prepare = (sql: string): PreparedStatement => connection.prepare<unknown[]>(sql);
  return {
    anyRevision: prepare("select 1 from memory_revisions where workspace = ? and name = ? limit 1").pluck(),
    revision: prepare(
      `select ${revisionColumns} from memory_revisions where workspace = ? and name = ? and revision = ?`,
    ),
    revisionBefore: prepare(
      `select ${revisionColumns} from memory_revisions
       where workspace = ? and name = ? and revision < ? order by revision desc limit 1`,
    ),
    contentBefore: prepare(
      `select ${revisionColumns} from memory_revisions
       where workspace = ? and name = ? and revision < ? and content is not null
       order by revision desc limit 1`,
    ),
    liveRecord: prepare("select revision from memory_records where workspace = ? and name = ?").pluck(),
    liveCursor: prepare("select revision from memory_cursors where workspace = ?").pluck(),
    emptyRevisions: prepare(
      `update memory_revisions set content = null
       where workspace = @workspace and name = @name and content is not null and revision <> @live`,
    ),
    workspacesAfter: prepare(
      `select workspace, record_count, position, changed_ms from memory_workspaces
       where workspace > ? order by workspace limit ?`,
    ),
  };
}

/** What the storage of records lends to the one of history; both run inside the caller's turn. */
export type RecordAccess = {
  readonly recordOn: (connection: Connection, workspace: string, name: string) => Stored | undefined;
  /** A write as `change` makes it, within the transaction of the running job. */
  readonly applyChange: (
    scope: MemoryScope,
    name: string,
    decide: (stored: Stored | undefined, room: Room) => Decision<RecordFields>,
  ) => Stored | undefined;
  /** Takes the words of earlier texts out of the search index. */
  readonly mergeIndex: () => Promise<void>;
};

type RunResult = { readonly changes: number };
type WorkspaceRow = {
  readonly workspace: string;
  readonly record_count: number;
  readonly position: number;
  readonly changed_ms: number;
};

const charactersOf = (stored: Stored | undefined): number =>
  stored?.readable === true
    ? stored.refs.reduce((sum, { target }) => sum + target.length, stored.body.length)
    : 0;

export function createSqliteHistory(
  database: SqliteDatabase,
  { recordOn, applyChange, mergeIndex }: RecordAccess,
): HistoryStorage {
  const statementsOf = createStatements(prepareHistory);

  /** Gives up the thread once enough was read since the last time. */
  const createRests = (pause: () => Promise<void>) => {
    let sum = 0;
    return async (characters: number): Promise<void> => {
      sum += characters;
      if (sum < partCharacters) return;
      sum = 0;
      await pause();
    };
  };

  const listed = <Revision>(
    workspace: string,
    name: string,
    page: RevisionPageRequest<Revision>,
    fromRow: (row: RevisionRow) => Revision,
  ): Promise<RevisionPage | undefined> =>
    database.snapshot(async (connection, pause) => {
      const statements = statementsOf(connection);
      if (statements.anyRevision.get(workspace, name) === undefined) return undefined;
      const rest = createRests(pause);
      for (let before = page.before ?? Number.MAX_SAFE_INTEGER; ; ) {
        const row = statements.revisionBefore.get(workspace, name, before) as RevisionRow | undefined;
        if (row === undefined) return { nextBefore: undefined };
        if (!page.take(fromRow(row))) return { nextBefore: before };
        before = row.revision;
        await rest(row.content?.length ?? 0);
      }
    });

  const restorable = (
    statements: HistoryStatements,
    workspace: string,
    name: string,
    revision: number,
    stored: Stored | undefined,
  ): Restorable => {
    const before = stored?.revision ?? Number.MAX_SAFE_INTEGER;
    const row =
      revision === 0
        ? statements.contentBefore.get(workspace, name, before)
        : statements.revision.get(workspace, name, revision);
    return {
      isKnown: statements.anyRevision.get(workspace, name) !== undefined,
      revision: row === undefined ? undefined : recordRevisionFromRow(row as RevisionRow),
    };
  };

  /** Empties all but the live revision; the text goes from the files after the commit. */
  const redact = async (
    workspace: string,
    name: string,
    liveOf: (statements: HistoryStatements) => unknown,
  ): Promise<number | undefined> => {
    const emptied = await database.write(() => {
      const statements = statementsOf(database.connection);
      if (statements.anyRevision.get(workspace, name) === undefined) return undefined;
      const live = liveOf(statements) ?? 0;
      const { changes } = statements.emptyRevisions.run({ workspace, name, live }) as RunResult;
      return changes;
    });
    if (emptied === undefined) return undefined;
    await mergeIndex();
    await database.scrub();
    return emptied;
  };

  return {
    getEach: ({ workspace }, names, see) =>
      database.snapshot(async (connection, pause) => {
        const rest = createRests(pause);
        for (const name of names) {
          const stored = recordOn(connection, workspace, name);
          see(name, stored);
          await rest(charactersOf(stored));
        }
      }),

    listRevisions: ({ workspace }, name, page) => listed(workspace, name, page, recordRevisionFromRow),

    async listCursorRevisions({ workspace }, page) {
      const found = await listed(workspace, cursorName, page, cursorRevisionFromRow);
      return found ?? { nextBefore: undefined };
    },

    restore: (scope, name, revision, decide) =>
      database.write(() => {
        const statements = statementsOf(database.connection);
        return applyChange(scope, name, (stored, room) =>
          decide(restorable(statements, scope.workspace, name, revision, stored), stored, room),
        );
      }),

    redactRevisions: ({ workspace }, name) =>
      redact(workspace, name, ({ liveRecord }) => liveRecord.get(workspace, name)),

    async redactCursorRevisions({ workspace }) {
      return (await redact(workspace, cursorName, ({ liveCursor }) => liveCursor.get(workspace))) ?? 0;
    },

    listWorkspaces: (after, limit) =>
      database.read(() => {
        const statements = statementsOf(database.connection);
        const rows = statements.workspacesAfter.all(after ?? "", limit) as WorkspaceRow[];
        return rows.map(({ workspace, record_count, position, changed_ms }) => ({
          workspace,
          recordCount: record_count,
          updatedMs: position === 0 ? undefined : changed_ms,
        }));
      }),
  };
}
