/** Outlines of a workspace and earlier states of its records on SQLite. */
import type { SqliteDatabase } from "../db/sqlite/database.js";
import type { Connection } from "../db/sqlite/open.js";
import { createStatements } from "../db/sqlite/statements.js";
import { type RevisionRow, recordRevisionFromRow } from "./rows-revisions.js";
import type { PreparedStatement } from "./sqlite-statements.js";
import type { FilesStorage, Outline, OutlineItem } from "./storage-files.js";
import type { Stored } from "./upsert.js";

/** An outline gives up the thread after so many names, which take some milliseconds to read. */
const partNames = 5_000;
/** So much is read of states at once. */
const partStates = 200;
const partCharacters = 500_000;

type FilesStatements = ReturnType<typeof prepareFiles>;

function prepareFiles(connection: Connection) {
  const prepare = (sql: string): PreparedStatement => connection.prepare<unknown[]>(sql);
  return {
    workspace: prepare("select epoch, position from memory_workspaces where workspace = ?"),
    cursor: prepare("select content from memory_cursors where workspace = ?").pluck(),
    namesAfter: prepare(
      "select name, revision from memory_records where workspace = ? and name > ? order by name limit ?",
    ),
    item: prepare("select name, revision from memory_records where workspace = ? and name = ?"),
    revision: prepare(
      `select revision, name, kind, at_ms, writer_user, writer_agent, content from memory_revisions
       where workspace = ? and revision = ? and name = ?`,
    ),
  };
}

/** What the storage of records lends to this one. */
export type RecordReader = (connection: Connection, workspace: string, name: string) => Stored | undefined;

const charactersOf = (stored: Stored | undefined): number =>
  stored?.readable === true
    ? stored.refs.reduce((sum, { target }) => sum + target.length, stored.body.length)
    : 0;

export function createSqliteFiles(database: SqliteDatabase, recordOn: RecordReader): FilesStorage {
  const statementsOf = createStatements(prepareFiles);

  const allItems = async (
    statements: FilesStatements,
    workspace: string,
    pause: () => Promise<void>,
  ): Promise<OutlineItem[]> => {
    const items: OutlineItem[] = [];
    for (let after = ""; ; await pause()) {
      const part = statements.namesAfter.all(workspace, after, partNames) as OutlineItem[];
      items.push(...part);
      const last = part.at(-1);
      if (last === undefined || part.length < partNames) return items;
      after = last.name;
    }
  };

  /** The names are at most as many as one call may give. */
  const someItems = (statements: FilesStatements, workspace: string, names: readonly string[]) =>
    names.flatMap((name) => (statements.item.get(workspace, name) as OutlineItem | undefined) ?? []);

  const stateAt = (
    connection: Connection,
    workspace: string,
    { name, revision }: OutlineItem,
  ): Stored | undefined => {
    const stored = recordOn(connection, workspace, name);
    if (stored?.revision === revision) return stored;
    const row = statementsOf(connection).revision.get(workspace, revision, name) as RevisionRow | undefined;
    return row === undefined ? undefined : recordRevisionFromRow(row).record;
  };

  return {
    outline: ({ workspace }, names) =>
      database.snapshot(async (connection, pause): Promise<Outline> => {
        const statements = statementsOf(connection);
        const row = statements.workspace.get(workspace) as Pick<Outline, "epoch" | "position"> | undefined;
        const cursor = statements.cursor.get(workspace) as string | undefined;
        const items =
          names === undefined
            ? await allItems(statements, workspace, pause)
            : someItems(statements, workspace, names);
        return { epoch: row?.epoch ?? "", position: row?.position ?? 0, items, cursor };
      }),

    statesAt: ({ workspace }, items) =>
      database.read(() => {
        const states: (Stored | undefined)[] = [];
        let characters = 0;
        for (const item of items) {
          const state = stateAt(database.connection, workspace, item);
          states.push(state);
          characters += charactersOf(state);
          if (states.length >= partStates || characters >= partCharacters) break;
        }
        return states;
      }),
  };
}
