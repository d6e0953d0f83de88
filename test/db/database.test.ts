/** A SQLite database as a whole: durable, private, checkable, and closed without a trace. */
import { closeSync, openSync, readdirSync, renameSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openSqliteDatabase } from "../../src/db/sqlite/database.js";
import { verifies } from "../support/verifies.js";
import {
  itemNames,
  openForTest,
  optionsFor,
  refusalOf,
  startProcess,
  temporaryFolder,
  until,
} from "./support.js";

const fileForTest = (): string => join(temporaryFolder(), "memoryd.db");

describe("an open database", () => {
  test("syncs every commit and enforces its references", async () => {
    const file = fileForTest();
    await (await openSqliteDatabase(optionsFor(file))).close();
    const { connection } = await openForTest(file);
    const pragma = (name: string): unknown => connection.pragma(name, { simple: true });
    expect({
      journal: pragma("journal_mode"),
      synchronous: pragma("synchronous"),
      foreignKeys: pragma("foreign_keys"),
      checkpoint: pragma("wal_autocheckpoint"),
      busyTimeout: pragma("busy_timeout"),
      trustedSchema: pragma("trusted_schema"),
      encoding: pragma("encoding"),
    }).toEqual({
      journal: "wal",
      synchronous: 2,
      foreignKeys: 1,
      checkpoint: 250,
      busyTimeout: 500,
      trustedSchema: 0,
      encoding: "UTF-8",
    });
  });

  test("is readable by its owner alone, in every one of its files", async () => {
    const file = fileForTest();
    const database = await openForTest(file);
    await database.write(() => database.connection.exec("insert into items values ('a', '')"));
    const names = readdirSync(join(file, "..")).sort();
    expect(names).toEqual(["memoryd.db", "memoryd.db-shm", "memoryd.db-wal", "memoryd.db.lock"]);
    for (const name of names) expect(statSync(join(file, "..", name)).mode & 0o777).toBe(0o600);
  });

  test.each(["in memory", "on disk"])("tells how large it is %s", async (where) => {
    const database = await openForTest(where === "in memory" ? ":memory:" : fileForTest());
    const before = database.sizeBytes();
    expect(before).toBeGreaterThan(0);
    await database.write(() =>
      database.connection.prepare("insert into items values ('a', ?)").run("x".repeat(150_000)),
    );
    expect(database.sizeBytes()).toBeGreaterThanOrEqual(before + 100_000);
  });

  test("leaves one file and the lock file when it is closed, and opens again with all it had", async () => {
    const file = fileForTest();
    const database = await openSqliteDatabase(optionsFor(file));
    const written = database.write(() => database.connection.exec("insert into items values ('a', '')"));
    await database.close();
    await written;
    expect(readdirSync(join(file, "..")).sort()).toEqual(["memoryd.db", "memoryd.db.lock"]);
    expect(itemNames(await openForTest(file))).toEqual(["a"]);
  });

  test("in memory leaves no trace and is nobody else's", async () => {
    const [first, second] = [await openForTest(":memory:"), await openForTest(":memory:")];
    await first.write(() => first.connection.exec("insert into items values ('a', '')"));
    expect([itemNames(first), itemNames(second)]).toEqual([["a"], []]);
  });
});

describe("the check for readiness", () => {
  test("passes while all is well, and writes nothing for it", async () => {
    const file = fileForTest();
    const database = await openForTest(file);
    const bytes = statSync(`${file}-wal`).size;
    await database.check();
    expect(statSync(`${file}-wal`).size).toBe(bytes);
  });

  test("fails while another program holds the database, and passes again", async () => {
    const file = fileForTest();
    const database = await openForTest(file);
    const { default: Database } = await import("better-sqlite3");
    const other = new Database(file);
    other.exec("begin immediate");
    expect((await refusalOf(() => database.check())).reason).toBe("STORAGE_BUSY");
    other.close();
    await database.check();
  });

  test("fails when the file was moved away under the daemon", async () => {
    const file = fileForTest();
    const database = await openForTest(file);
    renameSync(file, `${file}.moved`);
    const refusal = await refusalOf(() => database.check());
    expect([refusal.code, refusal.reason]).toEqual(["unavailable", "DATABASE_MOVED"]);
    expect(refusal.message).not.toContain(file);
    renameSync(`${file}.moved`, file);
    await database.check();
  });

  test("writes once after a write that the disk refused, to see whether it takes something again", async () => {
    const database = await openForTest(fileForTest());
    const { connection } = database;
    const probes = (): unknown => connection.pragma("user_version", { simple: true });
    connection.pragma(`max_page_count = ${connection.pragma("page_count", { simple: true })}`);
    const put = connection.prepare("insert into items values ('huge', ?)");
    const refusal = await refusalOf(() => database.write(() => put.run("x".repeat(1_000_000))));
    expect(refusal.reason).toBe("DISK_FULL");
    expect(probes()).toBe(0);
    await database.check();
    await database.check();
    expect(probes()).toBe(1);
  });

  describe.each(["read", "write", "snapshot"] as const)("fails for good once a %s met damage", (way) => {
    test("in pages that somebody else overwrote", async () => {
      const file = fileForTest();
      const first = await openSqliteDatabase(optionsFor(file));
      const put = first.connection.prepare("insert into items values (?, ?)");
      await first.write(() => {
        for (let at = 0; at < 500; at += 1) put.run(`${at}`, "x".repeat(1_000));
      });
      const page = "select rootpage from sqlite_schema where name = 'items'";
      const root = Number(first.connection.prepare(page).pluck().get());
      const pageBytes = Number(first.connection.pragma("page_size", { simple: true }));
      await first.close();
      const descriptor = openSync(file, "r+");
      writeSync(descriptor, Buffer.alloc(pageBytes, 0xee), 0, pageBytes, (root - 1) * pageBytes);
      closeSync(descriptor);

      const database = await openForTest(file);
      await database.check();
      const all = "select sum(length(content)) from items";
      const use = {
        read: () => database.read(() => database.connection.prepare(all).get()),
        write: () => database.write(() => database.connection.exec("insert into items values ('a', '')")),
        snapshot: () => database.snapshot(async (connection) => connection.prepare(all).get()),
      };
      const met = await refusalOf(use[way]);
      expect([met.code, met.reason]).toEqual(["internal", "DATABASE_DAMAGED"]);
      for (let time = 0; time < 2; time += 1) {
        const refusal = await refusalOf(() => database.check());
        expect([refusal.code, refusal.reason]).toEqual(["unavailable", "DATABASE_DAMAGED"]);
        expect(refusal.message).not.toContain(file);
      }
    });
  });

  test("fails after the close", async () => {
    const database = await openForTest(fileForTest());
    await database.close();
    expect((await refusalOf(() => database.check())).code).toBe("unavailable");
  });
});

type Answer = { readonly name?: string; readonly refused?: string; readonly done?: true };

describe("what was acknowledged is kept", () => {
  verifies("MV43", "when the process is killed among 20 writers, whole and without a repair", async () => {
    const file = fileForTest();
    for (let round = 1; round <= 3; round += 1) {
      const other = startProcess("writers-process.ts", [file, "300"]);
      await until(() => other.lines.length >= 500 * round, "many acknowledged writes");
      await other.kill();

      const database = await openSqliteDatabase(optionsFor(file));
      const names = new Set(itemNames(database));
      const acknowledged = (other.lines as Answer[]).flatMap(({ name }) => name ?? []);
      expect(acknowledged.filter((name) => !names.has(name))).toEqual([]);
      const whole = [...names].filter((name) => !String(name).includes("/"));
      expect(names.size).toBe(3 * whole.length);
      expect(database.connection.pragma("integrity_check", { simple: true })).toBe("ok");
      await database.write(() => database.connection.exec("delete from items"));
      await database.close();
    }
  });

  verifies("MV45", "when the disk takes no more, and what it refused is unavailable and absent", async () => {
    if (process.platform === "win32") return;
    const file = fileForTest();
    // A limit on the size of files makes the commit itself fail, as a full disk does.
    const other = startProcess("writers-process.ts", [file, "60000", "5"], "-f 4000");
    await other.ended;
    const answers = other.lines as Answer[];
    expect(answers.at(-1)).toEqual({ done: true });
    const refused = answers.flatMap((answer) => answer.refused ?? []);
    expect(refused.length).toBeGreaterThan(0);
    expect(new Set(refused)).toEqual(new Set(["unavailable"]));

    const database = await openForTest(file);
    const kept = itemNames(database).filter((name) => !String(name).includes("/"));
    expect(kept).toEqual(answers.flatMap(({ name }) => name ?? []).sort());
    expect(kept.length).toBeGreaterThan(0);
    await database.write(() => database.connection.exec("insert into items values ('after', '')"));
    expect(database.connection.pragma("integrity_check", { simple: true })).toBe("ok");
  });
});
