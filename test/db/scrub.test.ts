/** What was deleted or overwritten is in no file of a database that was scrubbed, and nobody waits in vain. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { SqliteDatabase } from "../../src/db/sqlite/database.js";
import { itemNames, openForTest, refusalOf, temporaryFolder } from "./support.js";

const put = ({ connection, write }: SqliteDatabase, name: string, content: string): Promise<unknown> =>
  write(() => connection.prepare("insert or replace into items values (?, ?)").run(name, content));

/** A mark that can be told from all others wherever it stands. */
const mark = (round: number, name: string): string => `<${round}.${name}>`;

/** Items of all sizes, each written several times, so that rows move from page to page. */
async function fill(database: SqliteDatabase): Promise<{ gone: string[]; kept: string[] }> {
  const names = Array.from({ length: 120 }, (_, index) => `n${(index * 37) % 120}`);
  for (let round = 1; round <= 8; round += 1) {
    const sizeOf = (index: number): number => ((index * 131 + round * 71) % 97) * (index % 9 === 0 ? 90 : 5);
    await Promise.all(
      names.map((name, index) =>
        put(database, name, `${mark(round, name)}${"x".repeat(sizeOf(index))}${mark(round, name)}`),
      ),
    );
  }
  const gone = names.flatMap((name) => [1, 2, 3, 4, 5, 6, 7].map((round) => mark(round, name)));
  return { gone, kept: names.map((name) => mark(8, name)) };
}

test("no old text is left in the file, and the log is empty, when a scrub is done", async () => {
  const file = join(temporaryFolder(), "memoryd.db");
  const database = await openForTest(file);
  const { gone, kept } = await fill(database);
  await database.scrub();
  expect(statSync(`${file}-wal`).size).toBe(0);
  // Read after the close: another open of the file would drop SQLite's locks on it.
  await database.close();
  const text = readFileSync(file, "latin1");
  expect(gone.filter((word) => text.includes(word))).toEqual([]);
  expect(kept.filter((word) => !text.includes(word))).toEqual([]);
});

test("writes that come during a scrub are answered after it, and two scrubs at once are fine", async () => {
  const file = join(temporaryFolder(), "memoryd.db");
  const database = await openForTest(file);
  await fill(database);
  await Promise.all([database.scrub(), put(database, "a", "1"), database.scrub(), put(database, "b", "2")]);
  expect(itemNames(database)).toEqual(expect.arrayContaining(["a", "b"]));
});

test("a scrub waits for a read that needs the log, while writes go on", async () => {
  const file = join(temporaryFolder(), "memoryd.db");
  const database = await openForTest(file);
  await fill(database);
  let finish = (): void => {};
  const read = database.snapshot(async (connection) => {
    connection.prepare("select count(*) from items").get();
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
  });
  let isDone = false;
  const scrub = database.scrub().then(() => {
    isDone = true;
  });
  for (let count = 0; count < 3; count += 1) await put(database, `during-${count}`, "x");
  expect(isDone).toBe(false);
  finish();
  await Promise.all([read, scrub]);
  expect(statSync(`${file}-wal`).size).toBe(0);
});

test("a close waits for the scrub that runs, and a later one is refused", async () => {
  const file = join(temporaryFolder(), "memoryd.db");
  const database = await openForTest(file);
  await fill(database);
  const scrub = database.scrub();
  await database.close();
  await scrub;
  expect((await refusalOf(() => database.scrub())).reason).toBe("STOPPING");
});

test("in memory there is nothing to scrub", async () => {
  const database = await openForTest(":memory:");
  await put(database, "a", "1");
  await database.scrub();
  expect(itemNames(database)).toEqual(["a"]);
});
