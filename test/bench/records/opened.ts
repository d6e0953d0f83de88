/** The built services of records over one database file, without a wire: what a call costs itself. */
import { loadClock, loadLog, loadRecordServices, loadStorages, loadVersion } from "../built.js";

const options = { defaultWorkspace: "bench", maxRecords: 10_000, maxWorkspaces: 1_000, deletedKeepDays: 90 };

export async function openRecords(databaseFile: string) {
  const { systemClock: clock } = await loadClock();
  const services = await loadRecordServices();
  const { openSqliteStorages } = await loadStorages();
  const storages = await openSqliteStorages({
    databaseUrl: `sqlite:${databaseFile}`,
    backupsDir: `${databaseFile}.backups`,
    version: (await loadVersion()).memorydVersion,
    log: (await loadLog()).silentLog,
    clock,
    memory: { revisionsPerRecord: 100 },
  });
  const storage = storages.memory;
  /** Everything that remembers files, with nothing remembered yet. */
  const openTree = () => {
    const tree = services.createTreeReader({ clock });
    const refs = services.createRefsService(storage, tree, clock);
    return { tree, refs, verify: services.createVerifyService(storage, refs, options) };
  };
  const { tree, refs } = openTree();
  const watch = services.createWatchService(storage, options);
  return {
    storage,
    openTree,
    memory: services.createMemoryService(storage, options, clock, refs),
    roots: services.createRootService(storage, tree, options),
    search: services.createSearchService(storage, refs, options),
    files: services.createFilesService(storage, options, clock),
    watch,
    close: async (): Promise<void> => {
      watch.close();
      await storages.close();
    },
  };
}

export type Records = Awaited<ReturnType<typeof openRecords>>;

export const callOf = (workspace: string) => ({
  caller: { user: "bench", right: "admin" as const },
  workspace,
});

/** The work's answer, and how long it took. */
export async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; answer: T }> {
  const startedMs = performance.now();
  const answer = await work();
  return { ms: performance.now() - startedMs, answer };
}

export function assertEqual(what: string, found: unknown, expected: unknown): void {
  if (found !== expected) throw new Error(`${what}: ${String(found)} instead of ${String(expected)}`);
}
