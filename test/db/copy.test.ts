/** Checked copies of a database that is being written, and what stays of those that fail. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { type CopyProgress, copyDatabase } from "../../src/db/sqlite/copy.js";
import { refusalOf, temporaryFolder } from "./support.js";

/** A database in WAL mode whose two tables always have as many rows. */
function pairs(rows: number) {
  const folder = temporaryFolder();
  const file = join(folder, "live.db");
  const connection = new Database(file);
  onTestFinished(() => void connection.close());
  connection.pragma("journal_mode = WAL");
  connection.exec("create table a (text); create table b (text)");
  const write = connection.transaction((text: string) => {
    connection.prepare("insert into a values (?)").run(text);
    connection.prepare("insert into b values (?)").run(text);
  });
  connection.transaction(() => {
    for (let row = 0; row < rows; row += 1) write(`${row} ${"x".repeat(500)}`);
  })();
  return { folder, file, connection, write, target: join(folder, "copy.db") };
}

const countsOf = (file: string): unknown => {
  const connection = new Database(file, { readonly: true });
  try {
    return connection.prepare("select (select count(*) from a) a, (select count(*) from b) b").get();
  } finally {
    connection.close();
  }
};

test("a copy shows one moment, whatever is written meanwhile, and needs no log beside it", async () => {
  const { folder, file, write, target } = pairs(20_000);
  const seen: CopyProgress[] = [];
  const onProgress = (progress: CopyProgress): void => {
    seen.push(progress);
    write("meanwhile");
  };
  await copyDatabase({ file, target, replaces: false, onProgress });
  expect(countsOf(target)).toEqual({ a: 20_000, b: 20_000 });
  expect(countsOf(file)).toEqual({ a: 20_000 + seen.length, b: 20_000 + seen.length });
  expect(seen.at(-1)).toBe("checking");
  const shares = seen.flatMap((progress) => (progress === "checking" ? [] : [progress.copiedBytes]));
  expect(shares).toEqual([...shares].sort((a, b) => a - b));
  expect(statSync(target).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder).filter((name) => name.startsWith("copy"))).toEqual(["copy.db"]);
});

test("a copy that is stopped leaves nothing, and what was there stays", async () => {
  const { folder, file, target } = pairs(20_000);
  writeFileSync(target, "older");
  const stop = new AbortController();
  const onProgress = (): void => stop.abort(new Error("enough"));
  const { signal } = stop;
  await expect(copyDatabase({ file, target, replaces: true, onProgress, signal })).rejects.toThrow("enough");
  expect(readFileSync(target, "utf8")).toBe("older");
  expect(readdirSync(folder).sort()).toEqual(["copy.db", "live.db", "live.db-shm", "live.db-wal"]);
});

test("a database that is damaged inside gets no copy", async () => {
  const { file, connection, target } = pairs(2_000);
  connection.pragma("wal_checkpoint(TRUNCATE)");
  connection.close();
  const bytes = readFileSync(file);
  bytes.fill(0xff, bytes.length / 2, bytes.length / 2 + 4096);
  writeFileSync(file, bytes);
  const refusal = await refusalOf(() => copyDatabase({ file, target, replaces: false }));
  expect([refusal.code, refusal.reason]).toEqual(["failed_precondition", "DATABASE_DAMAGED"]);
  expect(existsSync(target)).toBe(false);
});

test("a folder that is not there is named", async () => {
  const { file, folder } = pairs(1);
  const target = join(folder, "absent", "copy.db");
  const refusal = await refusalOf(() => copyDatabase({ file, target, replaces: false }));
  expect(refusal.message).toContain(target);
});
