/** Group commit: who is answered when, and who fails when something fails (memory.md M42, MV45). */
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import type { SqliteDatabase } from "../../src/db/sqlite/database.js";
import type { Connection } from "../../src/db/sqlite/open.js";
import { createWriter } from "../../src/db/sqlite/writer.js";
import { MemorydError } from "../../src/kernel/errors.js";
import { verifies } from "../support/verifies.js";
import { itemNames, openForTest, refusalOf, temporaryFolder } from "./support.js";

const putInto = ({ connection }: SqliteDatabase) => {
  const statement = connection.prepare("insert into items values (?, ?)");
  return (name: string, content = ""): string => {
    statement.run(name, content);
    return name;
  };
};

const batchesOf = (database: Pick<SqliteDatabase, "onBatch">): number[] => {
  const batches: number[] = [];
  database.onBatch((jobs) => batches.push(jobs));
  return batches;
};

/** The outcome of each job: its value, or the name or reason of its error. */
const outcomesOf = async (jobs: readonly Promise<unknown>[]): Promise<unknown[]> =>
  (await Promise.allSettled(jobs)).map((job) =>
    job.status === "fulfilled" ? job.value : (job.reason.reason ?? job.reason.message),
  );

describe.each(["in memory", "on disk"])("group commit %s", (where) => {
  const open = () => openForTest(where === "in memory" ? ":memory:" : join(temporaryFolder(), "memoryd.db"));

  test("all jobs that wait share one commit and are answered in their order", async () => {
    const database = await open();
    const put = putInto(database);
    const batches = batchesOf(database);
    const answered: string[] = [];
    const names = Array.from({ length: 40 }, (_, index) => `n${index}`);
    const jobs = names.map((name) => database.write(() => put(name)).then((done) => answered.push(done)));
    expect(database.queueDepth()).toBe(40);
    await Promise.all(jobs);
    expect(batches).toEqual([40]);
    expect(answered).toEqual(names);
    expect(database.queueDepth()).toBe(0);
    expect(itemNames(database)).toHaveLength(40);
  });

  test("no job is answered before the commit of its batch", async () => {
    const database = await open();
    const put = putInto(database);
    let wasInTransaction: boolean | undefined;
    const first = database.write(() => put("a")).then(() => database.connection.inTransaction);
    const second = database.write(() => {
      wasInTransaction = database.connection.inTransaction;
    });
    expect([await first, await second, wasInTransaction]).toEqual([false, undefined, true]);
  });

  verifies(
    "MV45",
    "a job that throws fails alone, with what it threw and nothing of it written",
    async () => {
      const database = await open();
      const put = putInto(database);
      const thrown = new Error("not this one");
      const jobs = [
        database.write(() => put("a")),
        database.write(() => {
          put("half");
          throw thrown;
        }),
        database.write(() => put("b")),
      ];
      const [first, second, third] = await Promise.allSettled(jobs);
      expect([first?.status, third?.status]).toEqual(["fulfilled", "fulfilled"]);
      expect(second).toEqual({ status: "rejected", reason: thrown });
      expect(itemNames(database)).toEqual(["a", "b"]);
    },
  );

  verifies("MV45", "a job that breaks a constraint fails alone", async () => {
    const database = await open();
    const put = putInto(database);
    const batches = batchesOf(database);
    const jobs = ["a", "a", "b"].map((name) => database.write(() => put(name)));
    expect(await outcomesOf(jobs)).toEqual(["a", "INTERNAL", "b"]);
    expect(batches).toEqual([3]);
    expect(itemNames(database)).toEqual(["a", "b"]);
  });

  verifies("MV45", "a job that makes SQLite undo the whole batch still fails alone", async () => {
    const database = await open();
    const put = putInto(database);
    const batches = batchesOf(database);
    await database.write(() => put("taken"));
    const undoing = database.connection.prepare("insert or rollback into items values ('taken', '')");
    const jobs = [
      database.write(() => put("a")),
      database.write(() => put("b")),
      database.write(() => undoing.run()),
      database.write(() => put("c")),
    ];
    expect(await outcomesOf(jobs)).toEqual(["a", "b", "INTERNAL", "c"]);
    expect(itemNames(database)).toEqual(["a", "b", "c", "taken"]);
    expect(batches).toEqual([1, 1, 1, 1]);
    await Promise.all(["d", "e"].map((name) => database.write(() => put(name))));
    expect(batches.at(-1)).toBe(2);
  });

  verifies("MV45", "a commit that fails is repeated job by job, and only the guilty one fails", async () => {
    const database = await open();
    const put = putInto(database);
    database.connection.exec(
      "create table links (item text references items deferrable initially deferred) strict",
    );
    const dangling = database.connection.prepare("insert into links values ('nothing')");
    const jobs = [
      database.write(() => put("a")),
      database.write(() => dangling.run()),
      database.write(() => put("b")),
    ];
    expect(await outcomesOf(jobs)).toEqual(["a", "INTERNAL", "b"]);
    expect(itemNames(database)).toEqual(["a", "b"]);
    expect(database.connection.prepare("select count(*) from links").pluck().get()).toBe(0);
  });

  verifies("MV45", "a full disk refuses the job that does not fit, and the next write is fine", async () => {
    const database = await open();
    const put = putInto(database);
    await database.write(() => put("before"));
    const pages = Number(database.connection.pragma("page_count", { simple: true }));
    database.connection.pragma(`max_page_count = ${pages + 2}`);
    const jobs = [
      database.write(() => put("a")),
      database.write(() => put("huge", "x".repeat(1_000_000))),
      database.write(() => put("b")),
    ];
    const [first, huge, last] = await Promise.allSettled(jobs);
    expect([first?.status, last?.status]).toEqual(["fulfilled", "fulfilled"]);
    expect(huge).toMatchObject({ reason: { code: "unavailable", reason: "DISK_FULL" } });
    expect(itemNames(database)).toEqual(["a", "b", "before"]);

    database.connection.pragma("max_page_count = 1000000");
    await database.write(() => put("huge", "x".repeat(1_000_000)));
    expect(itemNames(database)).toEqual(["a", "b", "before", "huge"]);
  });

  test("a long queue is worked off in several batches, with other work in between", async () => {
    const database = await open();
    const put = putInto(database);
    const batches = batchesOf(database);
    const jobs = Array.from({ length: 1_300 }, (_, index) => database.write(() => put(`n${index}`)));
    let turns = 0;
    const count = (): void => {
      turns += 1;
      if (database.queueDepth() > 0) setImmediate(count);
    };
    setImmediate(count);
    await Promise.all(jobs);
    expect(Math.max(...batches)).toBeLessThanOrEqual(512);
    expect(batches.reduce((sum, jobsOfBatch) => sum + jobsOfBatch, 0)).toBe(1_300);
    expect(turns).toBeGreaterThanOrEqual(batches.length - 1);
  });

  test("close answers every job that waits and takes no more", async () => {
    const database = await open();
    const put = putInto(database);
    const jobs = ["a", "b"].map((name) => database.write(() => put(name)));
    const closed = database.close();
    const late = await refusalOf(() => database.write(() => put("late")));
    expect([late.code, late.reason]).toEqual(["unavailable", "STOPPING"]);
    expect(await outcomesOf(jobs)).toEqual(["a", "b"]);
    await closed;
    await database.close();
    expect(database.connection.open).toBe(false);
  });
});

test("while another program holds the database, all that wait are refused once and the next write is fine", async () => {
  const file = join(temporaryFolder(), "memoryd.db");
  const database = await openForTest(file);
  const put = putInto(database);
  const other = new Database(file);
  other.exec("begin immediate");
  const startedMs = performance.now();
  const jobs = Array.from({ length: 20 }, (_, index) => database.write(() => put(`n${index}`)));
  expect(new Set(await outcomesOf(jobs))).toEqual(new Set(["STORAGE_BUSY"]));
  expect(performance.now() - startedMs).toBeLessThan(5_000);
  other.close();
  expect(await database.write(() => put("after"))).toBe("after");
});

test("a transaction that something left open is undone before the next batch", async () => {
  const connection = new Database(":memory:");
  connection.exec("create table items (name text) strict");
  const writer = createWriter(connection);
  connection.exec("begin; insert into items values ('left open')");
  await writer.write(() => connection.exec("insert into items values ('a')"));
  expect(itemNames({ connection })).toEqual(["a"]);
});

describe("the newest batch tells whether the disk takes what is written", () => {
  const full = (): Connection => {
    const connection = new Database(":memory:");
    connection.exec("create table items (name text unique) strict");
    connection.pragma(`max_page_count = ${connection.pragma("page_count", { simple: true })}`);
    return connection;
  };
  // SQLite undoes the first of these with its whole transaction, the second by itself.
  test.each([
    "insert into items values (hex(zeroblob(100000)))",
    "insert into items values ('x'), (hex(zeroblob(100000)))",
  ])("%s", async (tooMuch) => {
    const connection = full();
    const writer = createWriter(connection);
    const refusal = await refusalOf(() => writer.write(() => connection.exec(tooMuch)));
    expect(refusal.reason).toBe("DISK_FULL");
    expect(writer.fault()).toEqual(refusal);
    await writer.write(() => connection.exec("insert into items values ('small')"));
    expect(writer.fault()).toBeUndefined();
    expect(itemNames({ connection })).toEqual(["small"]);
  });

  test("and a job's own refusal says nothing about the disk", async () => {
    const writer = createWriter(new Database(":memory:"));
    const own = new MemorydError("unavailable", "Not now.");
    const refusal = await refusalOf(() =>
      writer.write(() => {
        throw own;
      }),
    );
    expect([refusal, writer.fault()]).toEqual([own, undefined]);
  });
});
