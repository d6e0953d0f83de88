/** The storages that `app.ts` gets for a database url: opened, migrated, owned, and let go. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openSqliteStorages, type SqliteStoragesOptions } from "../../src/engines/sqlite.js";
import type { Storages } from "../../src/engines/storages.js";
import { systemClock } from "../../src/kernel/clock.js";
import { silentLog } from "../../src/kernel/log.js";

const scope = { workspace: "default", writer: { user: "ada", agent: "" } };

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "memoryd-engines-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const optionsFor = (databaseUrl: string): SqliteStoragesOptions => ({
  databaseUrl,
  backupsDir: join(tmpdir(), "memoryd-no-backups"),
  version: "1.0.0",
  log: silentLog,
  clock: systemClock,
  memory: { revisionsPerRecord: 100 },
});

async function openForTest(databaseUrl: string): Promise<Storages> {
  const storages = await openSqliteStorages(optionsFor(databaseUrl));
  onTestFinished(() => storages.close());
  return storages;
}

test.each(["in memory", "on disk"])(
  "the memory storage works %s, and the daemon hears of its commits",
  async (where) => {
    const storages = await openForTest(
      where === "in memory" ? "sqlite::memory:" : `sqlite:${join(temporaryFolder(), "memoryd.db")}`,
    );
    const batches: number[] = [];
    storages.onBatch((jobs) => batches.push(jobs));
    const written = storages.memory.changeCursor(scope, () => ({ kind: "put", fields: "next step" }));
    expect(storages.queueDepth()).toBe(1);
    expect((await written)?.content).toBe("next step");
    expect((await storages.memory.getCursor(scope))?.content).toBe("next step");
    await storages.check();
    expect(batches).toEqual([1, 1]);
    expect(storages.sizeBytes()).toBeGreaterThan(0);
  },
);

test("a database on disk has one owner, and what it holds outlives it", async () => {
  const url = `sqlite:${join(temporaryFolder(), "memoryd.db")}`;
  const first = await openSqliteStorages(optionsFor(url));
  await first.memory.changeCursor(scope, () => ({ kind: "put", fields: "kept" }));
  await expect(openSqliteStorages(optionsFor(url))).rejects.toMatchObject({ reason: "DATABASE_OWNED" });
  await first.close();
  const second = await openForTest(url);
  expect((await second.memory.getCursor(scope))?.content).toBe("kept");
});
