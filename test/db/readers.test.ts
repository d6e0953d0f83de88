/** Reads on threads of their own: consistent, fresh, never in anybody's way, and ended when it is time. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { SqliteDatabase } from "../../src/db/sqlite/database.js";
import { createFileReaders } from "../../src/db/sqlite/readers.js";
import { openForTest, refusalOf, temporaryFolder } from "./support.js";

const put = ({ connection, write }: SqliteDatabase, name: string): Promise<unknown> =>
  write(() => connection.prepare("insert into items values (?, '')").run(name));

const countSql = "select count(*) as count from items where go_on()";
/** Counts for longer than any test waits. */
const endless = `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where go_on())
  select max(n) from numbers`;

const countIn = async (database: SqliteDatabase): Promise<unknown> =>
  database.readAside(async (query) => (await query(countSql))[0]?.count);

describe.each(["in memory", "on disk"])("a read aside, %s", (where) => {
  const open = () => openForTest(where === "in memory" ? ":memory:" : join(temporaryFolder(), "memoryd.db"));

  test("sees every write that was answered before it began", async () => {
    const database = await open();
    for (let count = 1; count <= 100; count += 1) {
      await put(database, `n${count}`);
      expect(await countIn(database)).toBe(count);
    }
  });

  test("takes named values and answers rows", async () => {
    const database = await open();
    await Promise.all(["a", "b", "c"].map((name) => put(database, name)));
    const sql = "select name from items where name > @after order by name limit @limit";
    const rows = await database.readAside((query) => query(sql, { after: "a", limit: 5 }));
    expect(rows).toEqual([{ name: "b" }, { name: "c" }]);
  });

  test("hands on what the read throws, tells a fault of a statement, and the next one works", async () => {
    const database = await open();
    const thrown = database.readAside(async () => {
      throw new Error("as thrown");
    });
    await expect(thrown).rejects.toThrow("as thrown");
    const wrong = await refusalOf(() => database.readAside((query) => query("select * from nowhere")));
    expect(wrong.code).toBe("internal");
    expect(wrong.message).not.toContain("nowhere");
    expect(await countIn(database)).toBe(0);
  });

  test("can read and nothing else", async () => {
    const database = await open();
    if (where === "in memory") return;
    const refused = await refusalOf(() =>
      database.readAside((query) => query("delete from items returning 1")),
    );
    expect(refused.reason).toBe("STORAGE_READ_ONLY");
  });
});

describe("on disk", () => {
  const open = () => openForTest(join(temporaryFolder(), "memoryd.db"));

  test("all statements of a read see one state, though writes land beside it", async () => {
    const database = await open();
    await put(database, "a");
    const counts = await database.readAside(async (query) => {
      const first = (await query(countSql))[0]?.count;
      await put(database, "b");
      return [first, (await query(countSql))[0]?.count];
    });
    expect(counts).toEqual([1, 1]);
    expect(await countIn(database)).toBe(2);
  });

  test("a long read holds up neither writes nor other turns, and ends with the database", async () => {
    const database = await open();
    const long = refusalOf(() => database.readAside((query) => query(endless)));
    for (let count = 1; count <= 20; count += 1) await put(database, `n${count}`);
    await database.close();
    expect((await long).reason).toBe("STOPPING");
    expect((await refusalOf(() => countIn(database))).reason).toBe("STOPPING");
  });

  test("reads that wait for a thread are refused when the database closes", async () => {
    const database = await open();
    const reads = Array.from({ length: 8 }, () =>
      refusalOf(() => database.readAside((query) => query(endless))),
    );
    await put(database, "a");
    await database.close();
    expect((await Promise.all(reads)).map(({ reason }) => reason)).toEqual(Array(8).fill("STOPPING"));
  });

  test("a read that takes too long is ended, and its thread reads on", async () => {
    const database = await open();
    await put(database, "a");
    const readers = createFileReaders(database.connection.name, 500);
    try {
      for (let round = 0; round < 2; round += 1) {
        const ended = await refusalOf(() => readers.readAside((query) => query(endless)));
        expect(ended).toMatchObject({ code: "unavailable", reason: "READ_EXPIRED" });
        expect(await readers.readAside((query) => query(countSql))).toEqual([{ count: 1 }]);
      }
    } finally {
      await readers.close();
    }
  });

  test("more reads at once than there are threads are all answered", async () => {
    const database = await open();
    await put(database, "a");
    const counts = await Promise.all(Array.from({ length: 50 }, () => countIn(database)));
    expect(counts).toEqual(Array(50).fill(1));
  });
});
