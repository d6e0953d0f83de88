/** Migrations of real files: applied in whole steps, backed up before, and refused where they do not fit. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { type Migration, migrationChecksum } from "../../src/db/migrate.js";
import { openSqliteDatabase } from "../../src/db/sqlite/database.js";
import { itemsStep } from "./items-step.js";
import {
  itemNames,
  openForTest,
  optionsFor,
  refusalOf,
  startProcess,
  temporaryFolder,
  until,
} from "./support.js";

const tagsStep: Migration = { id: "items/0002-tags", sqlite: "create table tags (tag text) strict;" };
const clock = { nowMs: () => 1_700_000_000_000 };

/** A file with one item in it, made by memoryd 1.0.0 and closed. */
async function usedFile(): Promise<string> {
  const file = join(temporaryFolder(), "memoryd.db");
  const database = await openSqliteDatabase(optionsFor(file));
  await database.write(() => database.connection.exec("insert into items values ('kept', '')"));
  await database.close();
  return file;
}

const edit = (file: string, sql: string): void => {
  const connection = new Database(file);
  connection.exec(sql);
  connection.close();
};

const openingOf = (file: string, options: Parameters<typeof optionsFor>[1] = {}) =>
  refusalOf(() => openForTest(file, options));

const tablesIn = (file: string): unknown[] => {
  const connection = new Database(file, { readonly: true });
  try {
    return connection
      .prepare("select name from sqlite_schema where type = 'table' order by name")
      .pluck()
      .all();
  } finally {
    connection.close();
  }
};

/** Where the first page of the items lies in the file. */
function itemsPage(file: string): { readonly start: number; readonly end: number } {
  const connection = new Database(file, { readonly: true });
  const page = connection.prepare("select rootpage from sqlite_schema where name = 'items'").pluck().get();
  const bytes = Number(connection.pragma("page_size", { simple: true }));
  connection.close();
  return { start: (Number(page) - 1) * bytes, end: Number(page) * bytes };
}

describe("what is applied", () => {
  test.each(["memoryd.db", ":memory:"])(
    "every step to a new database (%s), noted in a table",
    async (name) => {
      const file = name === ":memory:" ? name : join(temporaryFolder(), name);
      const { connection } = await openForTest(file, { migrations: [itemsStep, tagsStep], clock });
      expect(connection.prepare("select * from memoryd_migrations order by position").all()).toEqual(
        [itemsStep, tagsStep].map(({ id, sqlite }, index) => ({
          position: index + 1,
          id,
          checksum: migrationChecksum(sqlite),
          applied_time: 1_700_000_000_000,
          version: "1.0.0",
        })),
      );
      expect(connection.pragma("application_id", { simple: true })).toBe(0x6d656d64);
    },
  );

  test("nothing to a database that is up to date, and no backup is made", async () => {
    const file = await usedFile();
    const database = await openForTest(file, { version: "9.9.9" });
    expect(itemNames(database)).toEqual(["kept"]);
    expect(database.connection.prepare("select version from memoryd_migrations").pluck().all()).toEqual([
      "1.0.0",
    ]);
    expect(existsSync(join(file, "../backups"))).toBe(false);
  });

  test("a pending step, after a checked backup that only its owner may read", async () => {
    const file = await usedFile();
    const backupsDir = join(file, "../kept/backups");
    const database = await openForTest(file, { migrations: [itemsStep, tagsStep], backupsDir, clock });
    expect(itemNames(database)).toEqual(["kept"]);

    expect(readdirSync(backupsDir)).toEqual(["before-items-0002-tags-1700000000000.db"]);
    const backup = join(backupsDir, "before-items-0002-tags-1700000000000.db");
    expect(statSync(backup).mode & 0o777).toBe(0o600);
    expect(statSync(backupsDir).mode & 0o777).toBe(0o700);
    const header = readFileSync(backup).subarray(18, 20);
    expect([...header], "a backup needs no log beside it").toEqual([1, 1]);
    expect(tablesIn(backup)).toEqual(["items", "memoryd_migrations"]);
    const restored = await openForTest(backup);
    expect(itemNames(restored)).toEqual(["kept"]);
  });

  test("an existing empty file is taken for a new database", async () => {
    const file = join(temporaryFolder(), "memoryd.db");
    writeFileSync(file, "");
    expect(itemNames(await openForTest(file))).toEqual([]);
  });

  test("a table can be rebuilt without losing what points at it", async () => {
    const file = join(temporaryFolder(), "memoryd.db");
    const parents: Migration = {
      id: "family/0001",
      sqlite: `create table parents (id integer primary key) strict;
        create table children (parent integer references parents on delete cascade) strict;
        insert into parents values (1); insert into children values (1);`,
    };
    const rebuild: Migration = {
      id: "family/0002",
      sqlite: `create table wider (id integer primary key, name text) strict;
        insert into wider select id, '' from parents; drop table parents; alter table wider rename to parents;`,
    };
    const database = await openForTest(file, { migrations: [parents, rebuild] });
    expect(database.connection.prepare("select parent from children").pluck().all()).toEqual([1]);
    expect(database.connection.pragma("foreign_keys", { simple: true })).toBe(1);
  });
});

describe("what is undone", () => {
  test("a step that fails leaves nothing of itself, and the steps before it stay", async () => {
    const file = await usedFile();
    const failing: Migration = {
      id: "items/0003-fails",
      sqlite: "create table half (a text); select nonsense;",
    };
    const refusal = await openingOf(file, { migrations: [itemsStep, tagsStep, failing] });
    expect(refusal.code).toBe("internal");
    expect(tablesIn(file)).toEqual(["items", "memoryd_migrations", "tags"]);
    await openForTest(file, { migrations: [itemsStep, tagsStep] });
  });

  test("a step that would leave rows pointing at nothing is undone", async () => {
    const file = await usedFile();
    const orphans: Migration = {
      id: "items/0002-orphans",
      sqlite: "create table links (item text references items) strict; insert into links values ('nothing');",
    };
    const refusal = await openingOf(file, { migrations: [itemsStep, orphans] });
    expect([refusal.code, refusal.reason]).toEqual(["failed_precondition", "MIGRATION_FAILED"]);
    expect(tablesIn(file)).toEqual(["items", "memoryd_migrations"]);
  });

  test("a step that was cut short by a crash is undone, and the next start applies it", async () => {
    const file = join(temporaryFolder(), "memoryd.db");
    const other = startProcess("endless-migration-process.ts", [file]);
    const log = `${file}-wal`;
    const grown = () => (statSync(log, { throwIfNoEntry: false })?.size ?? 0) > 1_000_000;
    await until(() => grown() || other.child.exitCode !== null, "a step that has written a part");
    expect(other.child.exitCode).toBeNull();
    await other.kill();

    const database = await openForTest(file, { migrations: [itemsStep, tagsStep] });
    const { connection } = database;
    expect(connection.prepare("select id from memoryd_migrations order by position").pluck().all()).toEqual([
      "items/0001-items",
      "items/0002-tags",
    ]);
    expect(connection.prepare("select count(*) from tags").pluck().get()).toBe(0);
    expect(connection.pragma("integrity_check", { simple: true })).toBe("ok");
  });

  test("a database whose backup is not whole is not migrated", async () => {
    const file = await usedFile();
    const page = itemsPage(file);
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0xff, page.start, page.end));
    const refusal = await openingOf(file, { migrations: [itemsStep, tagsStep] });
    expect([refusal.code, refusal.reason]).toEqual(["failed_precondition", "DATABASE_DAMAGED"]);
    expect(tablesIn(file)).toEqual(["items", "memoryd_migrations"]);
    expect(readdirSync(join(file, "../backups"))).toEqual([]);
  });

  test("without room for the backup nothing is migrated", async () => {
    const file = await usedFile();
    const backupsDir = join(file, "../backups");
    writeFileSync(backupsDir, "in the way");
    const refusal = await openingOf(file, { migrations: [itemsStep, tagsStep], backupsDir });
    expect(refusal.code).toBe("unavailable");
    expect(tablesIn(file)).toEqual(["items", "memoryd_migrations"]);
  });
});

describe("what is refused", () => {
  const sequel: Migration = { id: "items/0003-sequel", sqlite: "create table sequel (a text) strict;" };
  const cases: readonly [what: string, reason: string, edit: string, migrations: readonly Migration[]][] = [
    ["a newer database", "DATABASE_NEWER", "", []],
    ["an edited step", "MIGRATION_EDITED", "update memoryd_migrations set checksum = 'other'", [itemsStep]],
    ["a step that came in between", "MIGRATION_MISSING", "", [tagsStep, itemsStep, sequel]],
    ["a lost row", "MIGRATION_MISSING", "update memoryd_migrations set position = 2", [itemsStep]],
    [
      "re-ordered steps",
      "MIGRATION_REORDERED",
      `insert into memoryd_migrations values (2, '${tagsStep.id}', '${migrationChecksum(tagsStep.sqlite)}', 0, '1.0.0')`,
      [tagsStep, itemsStep],
    ],
  ];
  test.each(cases)("%s, with nothing changed and no backup made", async (_, reason, sql, migrations) => {
    const file = await usedFile();
    if (sql !== "") edit(file, sql);
    const before = readFileSync(file);
    const refusal = await openingOf(file, { migrations });
    expect([refusal.code, refusal.reason]).toEqual(["failed_precondition", reason]);
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(existsSync(join(file, "../backups"))).toBe(false);
  });

  test("a file that is no database, left as it is and named in the sentence", async () => {
    const file = join(temporaryFolder(), "notes.txt");
    const text = "These are notes and no database. ".repeat(200);
    writeFileSync(file, text);
    const refusal = await openingOf(file);
    expect([refusal.code, refusal.reason]).toEqual(["failed_precondition", "NOT_A_DATABASE"]);
    expect(refusal.message).toContain(file);
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  test.each([
    ["another program's id", "pragma application_id = 42"],
    ["tables and no id", "create table t (a)"],
    ["tables in a write-ahead log", "pragma journal_mode = wal; create table t (a)"],
  ])("a database with %s, left as it is", async (_, sql) => {
    const file = join(temporaryFolder(), "other.db");
    edit(file, sql);
    const before = readFileSync(file);
    const refusal = await openingOf(file);
    expect([refusal.code, refusal.reason]).toEqual(["failed_precondition", "FOREIGN_DATABASE"]);
    expect(refusal.message).toContain(file);
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  test("a damaged database", async () => {
    const file = await usedFile();
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0xff, 100, 4_096));
    const refusal = await openingOf(file);
    expect([refusal.code, refusal.reason]).toEqual(["failed_precondition", "DATABASE_DAMAGED"]);
  });

  test("a folder in the place of the file", async () => {
    const folder = join(temporaryFolder(), "memoryd.db");
    mkdirSync(folder);
    const refusal = await openingOf(folder);
    expect([refusal.code, refusal.reason]).toEqual(["unavailable", "STORAGE_UNREACHABLE"]);
  });

  test("a refused start lets go of the file", async () => {
    const file = await usedFile();
    await openingOf(file, { migrations: [] });
    expect(itemNames(await openForTest(file))).toEqual(["kept"]);
  });
});
