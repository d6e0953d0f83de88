/** What verification sees of a workspace, on SQLite: some rows, then all names, from one snapshot, in parts. */
import type { SqliteDatabase } from "../db/sqlite/database.js";
import type { Connection } from "../db/sqlite/open.js";
import { createStatements } from "../db/sqlite/statements.js";
import { compareUtf8 } from "../kernel/utf8.js";
import type { PreparedStatement } from "./sqlite-statements.js";
import type { SurveyRequest, SurveyStorage } from "./storage-survey.js";
import type { Stored } from "./upsert.js";

/** A read gives up the thread after so many, which takes some milliseconds with what is made of them. */
const partRows = 50;
const partNames = 500;

type NameRow = { readonly name: string; readonly created_ms: number };

function prepareSurvey(connection: Connection) {
  const prepare = (sql: string): PreparedStatement => connection.prepare<unknown[]>(sql);
  return {
    namesAfter: prepare(
      `select name, created_ms from memory_records where workspace = ? and name > ? order by name limit ?`,
    ),
  };
}

export function createSqliteSurvey(
  database: SqliteDatabase,
  recordOn: (connection: Connection, workspace: string, name: string) => Stored | undefined,
): SurveyStorage {
  const statementsOf = createStatements(prepareSurvey);

  /** The names of the rows, and one more when there is a further row. */
  const namesOfRows = (connection: Connection, workspace: string, request: SurveyRequest): string[] => {
    const { after = "", names, limit } = request;
    if (names === undefined) {
      const rows = statementsOf(connection).namesAfter.all(workspace, after, limit + 1) as NameRow[];
      return rows.map(({ name }) => name);
    }
    const wanted = [...new Set(names)].filter((name) => compareUtf8(name, after) > 0).sort(compareUtf8);
    return wanted.slice(0, limit + 1);
  };

  return {
    survey: ({ workspace }, request) =>
      database.snapshot(async (connection, pause) => {
        const { limit, onRow, onName } = request;
        const names = namesOfRows(connection, workspace, request);
        const covered = names.slice(0, limit);
        for (const [index, name] of covered.entries()) {
          if (index % partRows === partRows - 1) await pause();
          const stored = recordOn(connection, workspace, name);
          if (stored !== undefined) onRow(stored);
        }
        for (let after = ""; ; await pause()) {
          const rows = statementsOf(connection).namesAfter.all(workspace, after, partNames) as NameRow[];
          for (const { name, created_ms } of rows) onName(name, created_ms);
          after = rows.at(-1)?.name ?? after;
          if (rows.length < partNames) break;
        }
        return { nextAfter: names.length > limit ? covered.at(-1) : undefined };
      }),
  };
}
