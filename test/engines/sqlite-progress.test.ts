/** Which database files count as put back by hand (daemon.md D30): the table of `sqlite-progress.ts`. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { progressFileOf, writeProgress } from "../../src/config/progress.js";
import { keepProgress } from "../../src/engines/sqlite-progress.js";
import { silentLog } from "../../src/kernel/log.js";
import { memoryMigrations } from "../../src/memory/schema.js";
import { temporaryFolder } from "../support/folder.js";

/** A database whose workspaces stand at these positions, and a place for notes. */
function databaseAt(...positions: readonly number[]) {
  const connection = new Database(":memory:");
  onTestFinished(() => void connection.close());
  connection.exec(memoryMigrations[0]?.sqlite ?? "");
  for (const [index, position] of positions.entries()) {
    connection
      .prepare("insert into memory_workspaces values (?, ?, ?, 0, 0, 1, 1)")
      .run(`w${index}`, `${index}`.repeat(32), position);
  }
  const file = progressFileOf(temporaryFolder(), "memoryd.db");
  const epochs = () => connection.prepare("select epoch from memory_workspaces").pluck().all() as string[];
  return { connection, file, epochs };
}

const cases: readonly [string, readonly number[], string | undefined, boolean][] = [
  ["as far as was noted", [3, 4], '{"position":7}', false],
  ["further, as after a crash", [3, 5], '{"position":7}', false],
  ["less far", [3, 3], '{"position":7}', true],
  ["something that nothing is known of", [3], undefined, true],
  ["something, and the note cannot be read", [3], '{"posi', true],
  ["something, and the note is of no kind", [3], '{"position":"7"}', true],
  ["nothing yet, as nothing is known", [], undefined, false],
];
test.each(cases)("a database that holds %s", (_, positions, note, isRenewed) => {
  const { connection, file, epochs } = databaseAt(...positions);
  if (note !== undefined) writeFileSync(file, note);
  const before = epochs();
  keepProgress(connection, file, silentLog).close();
  const after = epochs();
  expect(after.some((epoch) => before.includes(epoch))).toBe(!isRenewed && before.length > 0);
  expect(new Set(after).size).toBe(positions.length);
  for (const epoch of after) expect(epoch).toMatch(/^[0-9a-f]{32}$/);
  const position = positions.reduce((sum, at) => sum + at, 0);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ position });
});

test("the end of a database notes how far it has come since", () => {
  const { connection, file } = databaseAt(3);
  writeProgress(file, 3);
  const notes = keepProgress(connection, file, silentLog);
  connection.exec("update memory_workspaces set position = 9");
  notes.close();
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ position: 9 });
});

test("each database of an instance has notes of its own", () => {
  const at = (file: string): string => progressFileOf("state", join("data", file));
  expect(at("a.db")).not.toBe(at("b.db"));
  expect(at("a.db")).toBe(at("a.db"));
});
