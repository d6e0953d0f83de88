/** The daemon's own copies (daemon.md D30) with a clock that can be set, in a real folder. */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { backUpDaily, backupName, listBackups } from "../../src/engines/backups.js";
import { silentLog } from "../../src/kernel/log.js";
import { createTestClock } from "../memory/door.js";
import { temporaryFolder } from "../support/folder.js";
import { verifies } from "../support/verifies.js";

const hourMs = 60 * 60 * 1_000;
const startMs = Date.parse("2026-03-04T05:06:07.089Z");

function dailyIn(folder: string, keep = 3) {
  const clock = createTestClock(startMs);
  const copyTo = async (target: string): Promise<void> => writeFileSync(target, basename(target));
  const round = () => backUpDaily({ folder, keep, copyTo, clock, log: silentLog });
  return { clock, round };
}

verifies("D30", "a copy is made once a day, and the newest are kept", async () => {
  const folder = join(temporaryFolder(), "backups");
  const { clock, round } = dailyIn(folder);
  expect(await round()).toBe("daily-20260304T050607Z.db");
  for (let hour = 1; hour < 24; hour += 1) {
    clock.set(startMs + hour * hourMs);
    expect(await round()).toBeUndefined();
  }
  for (let day = 1; day < 5; day += 1) {
    clock.set(startMs + day * 24 * hourMs);
    expect(await round()).toBe(`daily-2026030${4 + day}T050607Z.db`);
  }
  expect(readdirSync(folder).sort()).toEqual([
    "daily-20260306T050607Z.db",
    "daily-20260307T050607Z.db",
    "daily-20260308T050607Z.db",
  ]);
});

test("what the daemon did not make as its daily copy is never deleted", async () => {
  const folder = temporaryFolder();
  const others = [
    "before-memory-0002-roots-1.db",
    backupName("backup", startMs - 1),
    "daily-notes.db",
    "daily-20260304T050607Z.db.txt",
    "memoryd.db.unfinished-0a",
  ];
  for (const name of others) writeFileSync(join(folder, name), "");
  const left = "daily-20260303T050607Z.db.unfinished-0a1b2c";
  writeFileSync(join(folder, left), "");
  const { round } = dailyIn(folder, 1);
  const made = (await round()) ?? "";
  expect(readdirSync(folder).sort()).toEqual([...others, made].sort());
});

test("a copy from a clock that was ahead neither stops the next nor pushes it out", async () => {
  const folder = temporaryFolder();
  mkdirSync(folder, { recursive: true });
  const ahead = backupName("daily", startMs + 1_000 * hourMs);
  writeFileSync(join(folder, ahead), "");
  const { round } = dailyIn(folder, 1);
  expect(await round()).toBe("daily-20260304T050607Z.db");
  expect(listBackups(folder).map(({ name }) => name)).toEqual(["daily-20260304T050607Z.db"]);
});

test("a round whose copy fails deletes nothing, and the next one tries again", async () => {
  const folder = temporaryFolder();
  const { clock, round } = dailyIn(folder, 1);
  const first = await round();
  clock.set(startMs + 30 * hourMs);
  const copyTo = () => Promise.reject(new Error("full"));
  await expect(backUpDaily({ folder, keep: 1, copyTo, clock, log: silentLog })).rejects.toThrow("full");
  expect(readdirSync(folder)).toEqual([first]);
  expect(await round()).toBe("daily-20260305T110607Z.db");
});
