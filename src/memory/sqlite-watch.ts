/**
 * Changes on SQLite: pages of revisions by position, read in one go on the writer's connection, which between
 * turns shows what is committed and nothing else. After a commit, a watched workspace is looked up, so that
 * whatever moved it is noticed, and nothing is queued for readers.
 */
import type { SqliteDatabase } from "../db/sqlite/database.js";
import type { Connection } from "../db/sqlite/open.js";
import { createStatements } from "../db/sqlite/statements.js";
import { type RevisionRow, recordRevisionFromRow } from "./rows-revisions.js";
import type { PreparedStatement } from "./sqlite-statements.js";
import type { Change, ChangesPage, ChangesRequest, WatchStorage } from "./storage-watch.js";
import type { Standing } from "./watch-position.js";

const cursorName = "";
/** A page ends after so much, which takes about a millisecond to read. */
const pageRows = 100;
const pageCharacters = 250_000;

const factColumns = "revision, name, kind, at_ms, writer_user, writer_agent";
const laterRevisions = "from memory_revisions where workspace = ? and revision > ? order by revision";

type WatchStatements = ReturnType<typeof prepareWatch>;

function prepareWatch(connection: Connection) {
  const prepare = (sql: string): PreparedStatement => connection.prepare<unknown[]>(sql);
  return {
    standing: prepare("select epoch, position, trimmed_position from memory_workspaces where workspace = ?"),
    position: prepare("select position from memory_workspaces where workspace = ?").pluck(),
    factsAfter: prepare(`select ${factColumns}, null as content ${laterRevisions}`),
    revisionsAfter: prepare(`select ${factColumns}, content ${laterRevisions}`),
  };
}

type StandingRow = { readonly epoch: string; readonly position: number; readonly trimmed_position: number };

function standingOf({ standing }: WatchStatements, workspace: string): Standing | undefined {
  const row = standing.get(workspace) as StandingRow | undefined;
  if (row === undefined) return undefined;
  const { epoch, position, trimmed_position: trimmedPosition } = row;
  return { epoch, position, trimmedPosition };
}

function changeFromRow(row: RevisionRow): Change {
  const { revision, kind, atMs, writer, record } = recordRevisionFromRow(row);
  return { revision, kind, name: row.name, atMs, writer, record };
}

const cursorChangeFromRow = (row: RevisionRow): Change => ({
  ...changeFromRow({ ...row, content: null }),
  name: undefined,
});

function pageOf(
  statements: WatchStatements,
  workspace: string,
  { after, withRecords, withCursor }: ChangesRequest,
): ChangesPage {
  const standing = standingOf(statements, workspace);
  const source = withRecords ? statements.revisionsAfter : statements.factsAfter;
  const rows = source.iterate(workspace, after) as IterableIterator<RevisionRow>;
  const changes: Change[] = [];
  let [upTo, count, characters] = [after, 0, 0];
  for (const row of rows) {
    if (row.name !== cursorName) changes.push(changeFromRow(row));
    else if (withCursor) changes.push(cursorChangeFromRow(row));
    upTo = row.revision;
    count += 1;
    characters += row.content?.length ?? 0;
    if (count >= pageRows || characters >= pageCharacters) return { standing, changes, upTo };
  }
  // Positions whose revisions were trimmed are covered too.
  return { standing, changes, upTo: Math.max(upTo, standing?.position ?? 0) };
}

/** The listeners of one workspace, and the position that they were last told of. */
type Watched = { position: number | undefined; readonly listeners: Set<() => void> };

export function createSqliteWatch(database: SqliteDatabase): WatchStorage {
  const statementsOf = createStatements(prepareWatch);
  const watched = new Map<string, Watched>();

  const read = <T>(job: (statements: WatchStatements) => T): Promise<T> =>
    database.read(() => job(statementsOf(database.connection)));

  /** How often the workspace was written; absent when it does not exist. */
  const positionOf = (workspace: string): number | undefined => {
    try {
      return statementsOf(database.connection).position.get(workspace) as number | undefined;
    } catch {
      // Equal to nothing, so that the listeners look for themselves and meet the reason.
      return Number.NaN;
    }
  };

  database.onBatch(() => {
    for (const [workspace, entry] of watched) {
      const position = positionOf(workspace);
      if (position === entry.position) continue;
      entry.position = position;
      for (const listener of entry.listeners) listener();
    }
  });

  return {
    getStanding: ({ workspace }) => read((statements) => standingOf(statements, workspace)),

    changesAfter: ({ workspace }, request) => read((statements) => pageOf(statements, workspace, request)),

    onWrite: ({ workspace }, listener) => {
      const entry = watched.get(workspace) ?? { position: positionOf(workspace), listeners: new Set() };
      watched.set(workspace, entry);
      entry.listeners.add(listener);
      return () => {
        // A second call must not take away the entry of those who came in between.
        if (entry.listeners.delete(listener) && entry.listeners.size === 0) watched.delete(workspace);
      };
    },
  };
}
