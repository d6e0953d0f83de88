/** Faults of SQLite by the driver's code: what a caller sees, and what who starts the daemon reads. */
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { memorydErrorFromSqlite, startErrorFrom } from "../../src/db/sqlite/errors.js";
import { MemorydError } from "../../src/kernel/errors.js";

const secret = "UNIQUE constraint failed: a stored secret in /srv/private.db";
const fault = (code: string) => new Database.SqliteError(secret, code);

const table: readonly [driver: string, code: string, reason: string, start: string][] = [
  ["SQLITE_FULL", "unavailable", "DISK_FULL", "unavailable"],
  ["SQLITE_IOERR", "unavailable", "STORAGE_IO", "unavailable"],
  ["SQLITE_IOERR_FSYNC", "unavailable", "STORAGE_IO", "unavailable"],
  ["SQLITE_IOERR_WRITE", "unavailable", "STORAGE_IO", "unavailable"],
  ["SQLITE_CANTOPEN", "unavailable", "STORAGE_UNREACHABLE", "unavailable"],
  ["SQLITE_CANTOPEN_ISDIR", "unavailable", "STORAGE_UNREACHABLE", "unavailable"],
  ["SQLITE_READONLY", "unavailable", "STORAGE_READ_ONLY", "unavailable"],
  ["SQLITE_READONLY_DIRECTORY", "unavailable", "STORAGE_READ_ONLY", "unavailable"],
  ["SQLITE_BUSY", "unavailable", "STORAGE_BUSY", "unavailable"],
  ["SQLITE_BUSY_SNAPSHOT", "unavailable", "STORAGE_BUSY", "unavailable"],
  ["SQLITE_LOCKED", "unavailable", "STORAGE_BUSY", "unavailable"],
  ["SQLITE_CORRUPT", "internal", "DATABASE_DAMAGED", "failed_precondition"],
  ["SQLITE_NOTADB", "internal", "DATABASE_DAMAGED", "failed_precondition"],
  ["SQLITE_CONSTRAINT_UNIQUE", "internal", "INTERNAL", "internal"],
  ["SQLITE_ERROR", "internal", "INTERNAL", "internal"],
  ["SQLITE_SOMETHING_NEW", "internal", "INTERNAL", "internal"],
];

describe.each(table)("%s", (driver, code, reason, startCode) => {
  test(`is ${code} ${reason} to a caller, without the driver's text or a path`, () => {
    const shown = memorydErrorFromSqlite(fault(driver));
    expect([shown.code, shown.reason]).toEqual([code, reason]);
    expect(shown.message).toMatch(/^[A-Z].*[.]$/);
    expect(shown.message).not.toMatch(/secret|\/srv|SQLITE/);
    expect(shown.cause).toMatchObject({ code: driver });
  });

  test(`is ${startCode} at the start, with the file in its sentence`, () => {
    const shown = startErrorFrom(fault(driver), "/data/memoryd.db");
    expect(shown.code).toBe(startCode);
    expect(shown.message).toContain("/data/memoryd.db");
    expect(shown.message).not.toContain("secret");
  });
});

test("an error of ours passes unchanged, anything unknown is internal", () => {
  const ours = new MemorydError("not_found", "There is no such thing.");
  expect(memorydErrorFromSqlite(ours)).toBe(ours);
  expect(startErrorFrom(ours, "/data/memoryd.db")).toBe(ours);
  const shown = memorydErrorFromSqlite(new TypeError(secret));
  expect([shown.code, shown.reason]).toEqual(["internal", "INTERNAL"]);
  expect(shown.message).not.toContain("secret");
});

test("a fault of the system at the start is told by its code", () => {
  const denied = Object.assign(new Error(secret), { code: "EACCES" });
  const shown = startErrorFrom(denied, "/data/memoryd.db");
  expect([shown.code, shown.reason]).toEqual(["unavailable", "STORAGE_UNREACHABLE"]);
  expect(shown.message).toContain("/data/memoryd.db cannot be used (EACCES)");
});

test.each([
  ["missing", { tries: ["/modules/better_sqlite3.node"] }],
  ["made for another Node", { code: "ERR_DLOPEN_FAILED" }],
])("a compiled part that is %s is said to be so, and not blamed on a file", (_how, facts) => {
  const shown = startErrorFrom(Object.assign(new Error(secret), facts), "/data/memoryd.db");
  expect([shown.code, shown.reason]).toEqual(["failed_precondition", "SQLITE_NOT_LOADED"]);
  expect(shown.message).toContain("npm rebuild better-sqlite3");
  expect(shown.message).not.toContain("/data/memoryd.db");
});
