/** Fills a database, by the storage itself, before a daemon opens it. */
import { loadClock, loadLog, loadStorages, loadVersion } from "../built.js";
import type { SeedJob } from "../jobs.js";
import { answerJob } from "../processes.js";
import {
  cursorText,
  fieldsOf,
  largeWorkspace,
  recordName,
  recordsPerWorkspace,
  smallWorkspace,
  smallWorkspaceRecords,
} from "../workload.js";

const writtenAtOnce = 500;

async function seed({ databaseFile, backupsDir, records }: SeedJob): Promise<{ records: number }> {
  const { openSqliteStorages } = await loadStorages();
  const storages = await openSqliteStorages({
    databaseUrl: `sqlite:${databaseFile}`,
    backupsDir,
    version: (await loadVersion()).memorydVersion,
    log: (await loadLog()).silentLog,
    clock: (await loadClock()).systemClock,
    memory: { revisionsPerRecord: 100 },
  });
  const scopeOf = (workspace: string) => ({ workspace, writer: { user: "bench", agent: "" } });

  async function fill(workspace: string, count: number): Promise<void> {
    for (let from = 0; from < count; from += writtenAtOnce) {
      const indexes = Array.from({ length: Math.min(writtenAtOnce, count - from) }, (_, at) => from + at);
      const write = (index: number) =>
        storages.memory.change(scopeOf(workspace), recordName(index), () => ({
          kind: "put",
          fields: fieldsOf(index, "seed"),
        }));
      await Promise.all(indexes.map(write));
    }
  }

  for (let workspace = 0; workspace * recordsPerWorkspace < records; workspace += 1)
    await fill(
      `listed-${workspace}`,
      Math.min(recordsPerWorkspace, records - workspace * recordsPerWorkspace),
    );
  await fill(smallWorkspace, smallWorkspaceRecords);
  await storages.memory.changeCursor(scopeOf(largeWorkspace), () => ({ kind: "put", fields: cursorText }));
  const { records: stored } = await storages.memory.counts();
  await storages.close();
  return { records: stored };
}

await answerJob(seed);
