/** Reads that span turns of the event loop: consistent, beside writes, and never in their way for ever. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { SqliteDatabase } from "../../src/db/sqlite/database.js";
import type { Connection } from "../../src/db/sqlite/open.js";
import { createFileSnapshots } from "../../src/db/sqlite/snapshots.js";
import { createStatements } from "../../src/db/sqlite/statements.js";
import { itemNames, openForTest, refusalOf, temporaryFolder, until } from "./support.js";

const put = ({ connection, write }: SqliteDatabase, name: string, content = ""): Promise<unknown> =>
  write(() => connection.prepare("insert into items values (?, ?)").run(name, content));

const countIn = (connection: Connection): unknown =>
  connection.prepare("select count(*) from items").pluck().get();

const emptyLog = ({ connection }: SqliteDatabase): unknown =>
  (connection.pragma("wal_checkpoint(TRUNCATE)") as { busy: number }[])[0]?.busy;

describe.each(["in memory", "on disk"])("a snapshot %s", (where) => {
  const open = () => openForTest(where === "in memory" ? ":memory:" : join(temporaryFolder(), "memoryd.db"));

  test("sees one state while writes land beside it", async () => {
    const database = await open();
    await put(database, "a");
    const writes: Promise<unknown>[] = [];
    const counts = await database.snapshot(async (connection, pause) => {
      const seen = [countIn(connection)];
      for (const name of ["b", "c", "d"]) {
        writes.push(put(database, name));
        await pause();
        seen.push(countIn(connection));
      }
      return seen;
    });
    expect(counts).toEqual([1, 1, 1, 1]);
    await Promise.all(writes);
    expect(itemNames(database)).toEqual(["a", "b", "c", "d"]);
  });

  test("sees every write that was answered before it began", async () => {
    const database = await open();
    for (let count = 1; count <= 50; count += 1) {
      await put(database, `n${count}`);
      expect(await database.snapshot(async (connection) => countIn(connection))).toBe(count);
    }
  });

  test("hands on what the read throws, and the next one works", async () => {
    const database = await open();
    await expect(
      database.snapshot(async () => {
        throw new Error("as thrown");
      }),
    ).rejects.toThrow("as thrown");
    expect(await database.snapshot(async (connection) => countIn(connection))).toBe(0);
  });

  test("prepares its statements once a connection", async () => {
    const database = await open();
    let prepared = 0;
    const statementsOf = createStatements((connection) => {
      prepared += 1;
      return connection.prepare("select count(*) from items").pluck();
    });
    for (let round = 0; round < 5; round += 1)
      await database.snapshot(async (connection) => statementsOf(connection).get());
    expect(prepared).toBe(1);
  });
});

describe("snapshots on disk", () => {
  test("writes are committed while a snapshot pauses", async () => {
    const database = await openForTest(join(temporaryFolder(), "memoryd.db"));
    await database.snapshot(async (connection, pause) => {
      expect(countIn(connection)).toBe(0);
      await put(database, "a");
      await pause();
      expect(countIn(connection)).toBe(0);
    });
    expect(itemNames(database)).toEqual(["a"]);
  });

  test("a snapshot cannot write", async () => {
    const database = await openForTest(join(temporaryFolder(), "memoryd.db"));
    const refusal = await refusalOf(() =>
      database.snapshot(async (connection) => connection.exec("insert into items values ('a', '')")),
    );
    expect([refusal.code, refusal.reason]).toEqual(["unavailable", "STORAGE_READ_ONLY"]);
  });

  test("more snapshots than connections all get their turn", async () => {
    const database = await openForTest(join(temporaryFolder(), "memoryd.db"));
    await put(database, "a");
    const connections = new Set<Connection>();
    const counts = await Promise.all(
      Array.from({ length: 30 }, () =>
        database.snapshot(async (connection, pause) => {
          connections.add(connection);
          await pause();
          return countIn(connection);
        }),
      ),
    );
    expect(new Set(counts)).toEqual(new Set([1]));
    expect(counts).toHaveLength(30);
    expect(connections.size).toBe(4);
  });

  test("a finished snapshot lets the log be emptied", async () => {
    const file = join(temporaryFolder(), "memoryd.db");
    const database = await openForTest(file);
    await database.snapshot(async (connection) => {
      countIn(connection);
      await put(database, "a", "x".repeat(100_000));
      expect(emptyLog(database)).toBe(1);
    });
    expect(emptyLog(database)).toBe(0);
    expect(statSync(`${file}-wal`).size).toBe(0);
  });

  test("a snapshot that lasts too long is ended at its next pause", async () => {
    const file = join(temporaryFolder(), "memoryd.db");
    await openForTest(file);
    const snapshots = createFileSnapshots(file, 20);
    const refusal = await refusalOf(() =>
      snapshots.snapshot(async (_, pause) => {
        for (;;) await pause();
      }),
    );
    expect([refusal.code, refusal.reason]).toEqual(["unavailable", "SNAPSHOT_EXPIRED"]);
    snapshots.close();
  });

  test("a read that goes on after its snapshot was ended is told why it fails", async () => {
    const file = join(temporaryFolder(), "memoryd.db");
    await openForTest(file);
    const snapshots = createFileSnapshots(file, 20);
    const refusal = await refusalOf(() =>
      snapshots.snapshot(async (connection) => {
        await until(() => !connection.open, "the end of the snapshot");
        return countIn(connection);
      }),
    );
    expect(refusal.reason).toBe("SNAPSHOT_EXPIRED");
    snapshots.close();
  });

  test("a reader that never comes back blocks neither the log nor the next readers", async () => {
    const file = join(temporaryFolder(), "memoryd.db");
    const database = await openForTest(file);
    const snapshots = createFileSnapshots(file, 20);
    for (let reader = 0; reader < 10; reader += 1)
      void snapshots.snapshot(async (connection) => {
        countIn(connection);
        await new Promise(() => {});
      });
    await put(database, "a");
    expect(await snapshots.snapshot(async (connection) => countIn(connection))).toBe(1);
    await until(() => emptyLog(database) === 0, "an emptied log");
    snapshots.close();
  });

  test("a stop ends open snapshots, refuses those that wait, and takes no more", async () => {
    const file = join(temporaryFolder(), "memoryd.db");
    await openForTest(file);
    const snapshots = createFileSnapshots(file);
    const endless = Array.from({ length: 12 }, () =>
      refusalOf(() =>
        snapshots.snapshot(async (connection, pause) => {
          for (;;) {
            countIn(connection);
            await pause();
          }
        }),
      ),
    );
    await new Promise((resolve) => setImmediate(resolve));
    snapshots.close();
    const reasons = (await Promise.all(endless)).map((refusal) => refusal.reason);
    expect(reasons).toEqual(Array(12).fill("STOPPING"));
    expect((await refusalOf(() => snapshots.snapshot(async () => {}))).reason).toBe("STOPPING");
  });
});
