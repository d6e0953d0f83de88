/** The contract of search on SQLite, and what holds for this engine alone. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Migration } from "../../src/db/migrate.js";
import { openSqliteDatabase } from "../../src/db/sqlite/database.js";
import { systemClock } from "../../src/kernel/clock.js";
import { silentLog } from "../../src/kernel/log.js";
import { targetFilterFrom } from "../../src/memory/refs-path.js";
import { memoryMigrations } from "../../src/memory/schema.js";
import { createSqliteMemoryStorage } from "../../src/memory/sqlite.js";
import { queryFromText } from "../../src/text/query.js";
import { memorySearchContract } from "../contracts/memory-search.js";
import { temporaryFolder } from "../support/folder.js";
import { engines } from "./door.js";
import { probeOf } from "./probe.js";
import { decisionFields, oneTo } from "./records.js";
import { type Stack, stackForTest } from "./stack.js";

for (const engine of engines) {
  memorySearchContract(engine, async (options) => {
    const stack = await stackForTest(engine, options);
    return { storage: stack.storage, probe: probeOf(stack) };
  });
}

const scope = { workspace: "here", writer: { user: "tester", agent: "" } };
const noFilters = { types: [], statuses: [], refKinds: [], target: undefined, referencedName: undefined };

const put = ({ storage }: Stack, name: string, body: string, status = "") =>
  storage.change(scope, name, () => ({ kind: "put", fields: decisionFields({ body, status }) }));

async function found({ storage }: Stack, text: string, statuses: readonly string[] = []): Promise<string[]> {
  const query = queryFromText(text);
  const terms = query.kind === "keyword" ? query.terms : [];
  const filters = { ...noFilters, statuses };
  const request = { terms, filters, place: { skip: 0 }, limit: 100, explain: false };
  return (await storage.search(scope, request)).hits.map(({ name }) => name).sort();
}

describe.each(engines)("the index on %s", (engine) => {
  /** A workspace as it was before there was an index. */
  async function withoutIndex(count: number): Promise<Stack> {
    const stack = await stackForTest(engine);
    await Promise.all(oneTo(count).map((n) => put(stack, `n${n}`, `walrus word${n}`, " Done")));
    stack.run("delete from memory_search");
    stack.run("update memory_records set status_key = ''");
    stack.run("update memory_refs set target_path = ''");
    stack.run("insert into memory_unindexed select rid from memory_records");
    return stack;
  }

  test("takes up what was stored before there was one, and the first search waits for that", async () => {
    const stack = await withoutIndex(120);
    await put(stack, "n1", "bear", " Done");
    await stack.storage.change(scope, "n2", () => ({ kind: "delete" }));
    expect(await found(stack, "walrus")).toHaveLength(100);
    expect(await found(stack, "word120", ["done"])).toEqual(["n120"]);
    expect(await found(stack, "word1 word2 bear")).toEqual(["n1"]);
    expect(stack.rows("select * from memory_unindexed")).toEqual([]);
    expect(stack.rows("select distinct target_path from memory_refs")).toEqual([
      { target_path: "src/cache.ts" },
    ]);
    expect(await stack.storage.indexRest()).toBe(120);
  });

  test("lets writes pass while it takes that up", async () => {
    const stack = await withoutIndex(400);
    const indexed = stack.storage.indexRest();
    await put(stack, "new", "walrus");
    const rest = stack.rows("select count(*) as count from memory_unindexed")[0]?.count;
    expect(rest).toBeGreaterThan(0);
    expect(await indexed).toBe(400);
    expect(await found(stack, "word7 new")).toEqual(["n7", "new"]);
  });

  test("has a row for each record and none else, whatever was written", async () => {
    const stack = await stackForTest(engine);
    for (const round of oneTo(40)) {
      await put(stack, `n${round % 7}`, `text${round % 3}`);
      if (round % 5 === 0) await stack.storage.change(scope, `n${round % 7}`, () => ({ kind: "delete" }));
    }
    const rids = (sql: string): unknown[] => stack.rows(sql).map(({ rid }) => rid);
    const indexed = rids("select id as rid from memory_search_docsize order by id");
    expect(indexed).toEqual(rids("select rid from memory_records order by rid"));
    expect(indexed.length).toBeGreaterThan(0);
    stack.run("insert into memory_search (memory_search) values ('integrity-check')");
  });

  test("is left alone by a write that changes no text", async () => {
    const stack = await stackForTest(engine);
    await put(stack, "a", "walrus");
    const before = stack.rows("select id, hex(block) as block from memory_search_data order by id");
    await stack.storage.change(scope, "a", () => ({
      kind: "put",
      fields: decisionFields({ body: "walrus", references: ["b"] }),
    }));
    expect(stack.rows("select id, hex(block) as block from memory_search_data order by id")).toEqual(before);
  });

  test("goes with a write that is refused in a group", async () => {
    const stack = await stackForTest(engine);
    const writes = oneTo(20).map((n) =>
      stack.database.write(() => {
        stack.run(
          "insert into memory_search (rowid, body) values (cast(? as integer), ?)",
          1_000 + n,
          `walrus${n}`,
        );
        if (n % 3 === 0) throw new Error("refused");
      }),
    );
    await Promise.allSettled([...writes, put(stack, "a", "walrus")]);
    const ids = stack
      .rows("select id from memory_search_docsize where id > 1000")
      .map(({ id }) => Number(id));
    expect(ids).toEqual(
      oneTo(20)
        .filter((n) => n % 3 !== 0)
        .map((n) => 1_000 + n),
    );
    expect(await found(stack, "walrus")).toEqual(["a"]);
  });
});

test("a database from before there was an index is indexed once it is open", async () => {
  const file = join(temporaryFolder(), "memoryd.db");
  const open = (migrations: readonly Migration[]) =>
    openSqliteDatabase({ file, migrations, version: "1.0.0", log: silentLog, clock: systemClock });
  const before = await open(memoryMigrations.slice(0, 3));
  before.connection.exec(`
    insert into memory_workspaces values ('here', 'e', 2, 0, 2, 1, 2);
    insert into memory_records (workspace, name, type, status, body, created_ms, updated_ms, revision,
      writer_user, writer_agent) values
      ('here', 'a', 2, ' DONE', 'a walrus', 1, 1, 1, 'ana', ''), ('here', 'broken', 9, '', 'a walrus', 2, 2, 2, 'ana', '');
    insert into memory_refs (workspace, name, ordinal, kind, target) values ('here', 'a', 0, 5, './docs/a.md:3');`);
  await before.close();
  const database = await open(memoryMigrations);
  try {
    const storage = createSqliteMemoryStorage(database, { revisionsPerRecord: 10 }, systemClock);
    const query = queryFromText("walrus");
    const terms = query.kind === "keyword" ? query.terms : [];
    const filters = { ...noFilters, statuses: ["done"], target: targetFilterFrom("docs/") };
    const request = { terms, filters, place: { skip: 0 }, limit: 10, explain: false };
    expect(await storage.search(scope, request)).toMatchObject({ totalCount: 1, hits: [{ name: "a" }] });
    expect(await storage.indexRest()).toBe(2);
  } finally {
    await database.close();
  }
});

test("MV61 the words of an old text are in no file once its redaction is answered", async () => {
  const stack = await stackForTest("SQLite on disk");
  const { name: file } = stack.database.connection;
  // Words that share no beginning, since the index writes only how a word differs from the one before it.
  const secretOf = (n: number): string => `${String.fromCharCode(97 + (n % 26))}${n}secretword`;
  for (const n of oneTo(300)) await put(stack, `other-${n % 90}`, `kept${n} `.repeat(n % 40));
  for (const n of oneTo(60)) await put(stack, "hidden", `${secretOf(n)} text`);
  await put(stack, "gone", "zebrasecretword");
  await stack.storage.change(scope, "gone", () => ({ kind: "delete" }));
  await put(stack, "hidden", "nothing to see");
  await stack.storage.redactRevisions(scope, "hidden");
  await stack.storage.redactRevisions(scope, "gone");
  const wal = readFileSync(`${file}-wal`, "latin1");
  expect(wal).toBe("");
  expect(await found(stack, "nothing")).toEqual(["hidden"]);
  expect(await found(stack, "kept300")).toEqual(["other-30"]);
  // Once more, when the index is one piece already.
  await put(stack, "hidden", "qsecretword");
  await put(stack, "hidden", "nothing to see");
  await stack.storage.redactRevisions(scope, "hidden");
  await stack.database.close();
  const text = readFileSync(file, "latin1");
  expect(text.match(/.?.?.?secretword/g)).toBeNull();
  expect(text).toContain("nothing to see");
});

test("the plan of a search begins at the index, and that of a list at the times of a workspace", async () => {
  const { database, run } = await stackForTest("SQLite in memory");
  run("insert into memory_workspaces values ('here', '', 0, 0, 0, 0, 0)");
  const seen: string[] = [];
  const { connection } = database;
  const plans = (sql: string): string[] =>
    connection
      .prepare<unknown[], { detail: string }>(`explain query plan ${sql}`)
      .all({ terms: "a", scoped: "a", workspace: "here", limit: 1, skip: 0 })
      .map(({ detail }) => detail);
  const watched = { ...database, readAside: readAsideSeen(database, seen) };
  const storage = createSqliteMemoryStorage(watched, { revisionsPerRecord: 10 }, { nowMs: () => 0 });
  const query = queryFromText("walrus");
  for (const terms of [query.kind === "keyword" ? query.terms : [], []]) {
    await storage.search(scope, { terms, filters: noFilters, place: { skip: 0 }, limit: 1, explain: false });
  }
  const [byWords = "", byTime = ""] = seen.filter((sql) => sql.includes("order by"));
  expect(plans(byWords).join("\n")).toMatch(
    /SCAN memory_search VIRTUAL TABLE[\s\S]*SEARCH r USING INTEGER PRIMARY KEY/,
  );
  expect(plans(byTime).join("\n")).toMatch(/SEARCH r USING INDEX \w+ \(workspace=\?\)/);
});

/** The same reads, with the statements of each noted. */
const readAsideSeen =
  ({ readAside }: Stack["database"], seen: string[]): Stack["database"]["readAside"] =>
  (read) =>
    readAside((query) =>
      read((sql, parameters) => {
        seen.push(sql);
        return query(sql, parameters);
      }),
    );
