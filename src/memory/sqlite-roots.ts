/** Roots of workspaces on SQLite. */
import type { SqliteDatabase } from "../db/sqlite/database.js";
import type { Connection } from "../db/sqlite/open.js";
import { createStatements } from "../db/sqlite/statements.js";
import type { Clock } from "../kernel/clock.js";
import { randomHex } from "../kernel/ids.js";
import type { Root } from "./roots.js";
import { epochBytes, type PreparedStatement } from "./sqlite-statements.js";
import type { RootStorage } from "./storage-roots.js";

type RootRow = { readonly root_id: string; readonly path: string };
type RunResult = { readonly changes: number };
type RootStatements = ReturnType<typeof prepareRoots>;

function prepareRoots(connection: Connection) {
  const prepare = (sql: string): PreparedStatement => connection.prepare<unknown[]>(sql);
  return {
    roots: prepare(
      `select root_id, path from memory_roots where workspace = ? and daemon = ?
       order by attached_ms, root_id`,
    ),
    recordCount: prepare("select record_count from memory_workspaces where workspace = ?").pluck(),
    workspaceCount: prepare("select count(*) from memory_workspaces").pluck(),
    addWorkspace: prepare(
      `insert into memory_workspaces (workspace, epoch, position, trimmed_position, record_count, created_ms, changed_ms)
       values (@workspace, @epoch, 0, 0, 0, @at, @at)`,
    ),
    newestTime: prepare(
      "select max(attached_ms) from memory_roots where workspace = ? and daemon = ?",
    ).pluck(),
    addRoot: prepare(
      `insert into memory_roots (workspace, daemon, root_id, path, attached_ms)
       values (@workspace, @daemon, @rootId, @path, @at)`,
    ),
    dropRoot: prepare("delete from memory_roots where workspace = ? and daemon = ? and root_id = ?"),
  };
}

/** `daemonId` tells daemons apart that share a database. */
export function createSqliteRoots(database: SqliteDatabase, daemonId: string, clock: Clock): RootStorage {
  const statementsOf = createStatements(prepareRoots);
  const own = (): RootStatements => statementsOf(database.connection);
  const read = <T>(job: (statements: RootStatements) => T): Promise<T> => database.read(() => job(own()));
  const rootsOf = ({ roots }: RootStatements, workspace: string): Root[] =>
    (roots.all(workspace, daemonId) as RootRow[]).map(({ root_id, path }) => ({ rootId: root_id, path }));

  return {
    roots: ({ workspace }) => read((statements) => rootsOf(statements, workspace)),

    rootIds: (workspaces) =>
      read((statements) => {
        const idsOf = (workspace: string) => rootsOf(statements, workspace).map(({ rootId }) => rootId);
        const entries = workspaces.map((workspace) => [workspace, idsOf(workspace)] as const);
        return new Map(entries.filter(([, ids]) => ids.length > 0));
      }),

    attachRoot: ({ workspace }, { rootId, path }, assertFits) =>
      database.write(() => {
        const statements = own();
        const attached = rootsOf(statements, workspace);
        if (attached.some((root) => root.rootId === rootId)) return;
        const recordCount = statements.recordCount.get(workspace) as number | undefined;
        const isBorn = recordCount !== undefined;
        assertFits(attached, {
          recordCount: recordCount ?? 0,
          otherWorkspaces: isBorn ? undefined : (statements.workspaceCount.get() as number),
        });
        const newestMs = statements.newestTime.get(workspace, daemonId) as number | null;
        const at = Math.max(clock.nowMs(), newestMs === null ? Number.NEGATIVE_INFINITY : newestMs + 1);
        if (!isBorn) statements.addWorkspace.run({ workspace, epoch: randomHex(epochBytes), at });
        statements.addRoot.run({ workspace, daemon: daemonId, rootId, path, at });
      }),

    detachRoot: ({ workspace }, rootId) =>
      database.write(() => (own().dropRoot.run(workspace, daemonId, rootId) as RunResult).changes > 0),
  };
}
