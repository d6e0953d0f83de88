/**
 * What a killed daemon left on the disk, read by SQL from a copy of its files: the database itself is not
 * touched, so that the next start meets what the crash left. Checks the file against itself and against what
 * the clients saw (memory.md M42, M43).
 */
import { copyFileSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect } from "vitest";
import { tokensFromText } from "../../../src/text/tokens.js";
import { type Acknowledged, type Ledger, partsOf, type Write } from "./ledger.js";

/** The text of each record by name, and of the cursor by the empty name. */
export type Stored = ReadonlyMap<string, string>;

export type Inspected = {
  readonly stored: ReadonlyMap<string, Stored>;
  /** By workspace: the position of its newest write. */
  readonly positions: ReadonlyMap<string, number>;
};

type Revision = {
  readonly workspace: string;
  readonly revision: number;
  readonly name: string;
  readonly kind: number;
  readonly at_ms: number;
  readonly content: string | null;
};

const deleted = 3;

function openCopy(folder: string): Database.Database {
  const file = (name: string): string => join(folder, name);
  for (const suffix of ["", "-wal"]) {
    rmSync(file(`copy.db${suffix}`), { force: true });
    if (existsSync(file(`memoryd.db${suffix}`))) {
      copyFileSync(file(`memoryd.db${suffix}`), file(`copy.db${suffix}`));
    }
  }
  return new Database(file("copy.db"));
}

/** The text that a revision's content stands for, whole. */
function textOf(revision: Revision): string | undefined {
  if (revision.content === null) return undefined;
  const content = JSON.parse(revision.content) as Record<string, unknown>;
  if (revision.name === "") return String(content.content);
  const text = String(content.status);
  const parts = partsOf(text);
  expect(content).toMatchObject({
    status: text,
    body: parts.body,
    refs: parts.targets.map((target) => ({ target })),
    references: parts.links,
  });
  return text;
}

/** Every record has all the parts of one text, and those alone. */
function recordsIn(database: Database.Database, workspace: string) {
  const rows = database
    .prepare(
      `select name, status, body, revision, updated_ms,
         (select json_group_array(target) from
           (select target from memory_refs f where f.workspace = r.workspace and f.name = r.name order by ordinal)
         ) targets,
         (select json_group_array(linked_name) from
           (select linked_name from memory_links l where l.workspace = r.workspace and l.name = r.name order by ordinal)
         ) links
       from memory_records r where workspace = ?`,
    )
    .all(workspace) as {
    name: string;
    status: string;
    body: string;
    revision: number;
    updated_ms: number;
    targets: string;
    links: string;
  }[];
  for (const { status, body, targets, links } of rows) {
    expect({ status, body, targets: JSON.parse(targets), links: JSON.parse(links) }).toEqual(partsOf(status));
  }
  return rows.map(({ name, status, revision, updated_ms }) => ({ name, text: status, revision, updated_ms }));
}

/** The index holds the words of each record's text, and has a row for each record and none else. */
function checkIndex(database: Database.Database): void {
  const rids = (sql: string): unknown[] => database.prepare(sql).pluck().all();
  expect(rids("select id from memory_search_docsize order by id")).toEqual(
    rids("select rid from memory_records order by rid"),
  );
  database.exec("insert into memory_search (memory_search) values ('integrity-check')");
  const has = database
    .prepare("select count(*) from memory_search where memory_search match ? and rowid = cast(? as integer)")
    .pluck();
  const records = database.prepare("select rid, status from memory_records").all() as {
    rid: number;
    status: string;
  }[];
  for (const { rid, status } of records) {
    const tokens = tokensFromText(status).exact.join(" ");
    expect({ status, rows: has.get(`{status} : "${tokens}"`, rid) }).toEqual({ status, rows: 1 });
  }
}

/** Record or cursor, and the newest revision of its name, are of the same write; a deleted name has neither. */
function checkNewest(database: Database.Database, workspace: string): Stored {
  const cursors = database
    .prepare("select '' name, content text, revision, updated_ms from memory_cursors where workspace = ?")
    .all(workspace) as ReturnType<typeof recordsIn>;
  const live = [...recordsIn(database, workspace), ...cursors];
  const newest = database
    .prepare("select *, max(revision) from memory_revisions where workspace = ? group by name")
    .all(workspace) as Revision[];
  const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);
  expect([...live].sort(byName)).toEqual(
    newest
      .filter(({ kind }) => kind !== deleted)
      .map((row) => ({ name: row.name, text: textOf(row), revision: row.revision, updated_ms: row.at_ms }))
      .sort(byName),
  );
  return new Map(live.map(({ name, text }) => [name, text]));
}

const same = (list: readonly (string | undefined)[], other: readonly (string | undefined)[]): boolean =>
  list.length === other.length && list.every((text, index) => text === other[index]);

type Asked = { readonly acknowledged: readonly Acknowledged[]; readonly pending: readonly Write[] };

/** The writes of one record or cursor since the start, as they are on the disk, against what clients saw. */
function checkWrites(name: string, found: readonly Revision[], { acknowledged, pending }: Asked): void {
  const texts = found.map(textOf);
  for (const { text, updateTimeMs } of acknowledged) {
    if (updateTimeMs === undefined) continue;
    const revision = found[texts.indexOf(text)];
    expect({ text, at: revision?.at_ms }, "an acknowledged write").toEqual({ text, at: updateTimeMs });
  }
  const seen = acknowledged.map(({ text }) => text);
  const unseen = pending.map(({ text }) => text);
  if (name === "") {
    const others = texts.filter((text) => !seen.includes(text));
    expect(others.filter((text) => !unseen.includes(text))).toEqual([]);
    expect(texts).toHaveLength(seen.length + others.length);
    return;
  }
  // One writer, one write at a time: what it saw answered, in that order, and perhaps the one it waited for.
  const possible = [seen, ...unseen.map((text) => [...seen, text])];
  if (!possible.some((list) => same(list, texts))) expect(texts, `the writes of ${name}`).toEqual(seen);
}

/** Reads and checks a database after its daemon was killed; `before` is how it was found the last time. */
export function inspect(folder: string, ledger: Ledger, before: Inspected | undefined): Inspected {
  const database = openCopy(folder);
  try {
    expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
    expect(database.pragma("foreign_key_check")).toEqual([]);
    checkIndex(database);
    const workspaces = database
      .prepare("select workspace, position, record_count count from memory_workspaces")
      .all() as { workspace: string; position: number; count: number }[];
    const stored = new Map<string, Stored>();
    const asked = [...ledger.acknowledged(), ...ledger.pending()];
    for (const { workspace, position, count } of workspaces) {
      const now = checkNewest(database, workspace);
      stored.set(workspace, now);
      expect(count).toBe([...now.keys()].filter((name) => name !== "").length);

      const base = before?.positions.get(workspace) ?? 0;
      const since = database
        .prepare("select * from memory_revisions where workspace = ? and revision > ? order by revision")
        .all(workspace, base) as Revision[];
      const steps = Array.from({ length: position - base }, (_, index) => base + 1 + index);
      expect(since.map(({ revision }) => revision)).toEqual(steps);
      const names = [...since, ...asked.filter((write) => write.workspace === workspace)].map(
        ({ name }) => name,
      );
      for (const name of new Set(names)) {
        const isIts = (write: { workspace: string; name: string }): boolean =>
          write.workspace === workspace && write.name === name;
        checkWrites(name, since.filter(isIts), {
          acknowledged: ledger.acknowledged().filter(isIts),
          pending: ledger.pending().filter(isIts),
        });
      }
    }
    const unknown = ledger.acknowledged().filter(({ workspace }) => !stored.has(workspace));
    expect(unknown).toEqual([]);
    return { stored, positions: new Map(workspaces.map(({ workspace, position }) => [workspace, position])) };
  } finally {
    database.close();
  }
}
