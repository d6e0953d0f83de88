/** The built files, as a user runs them: the loader of the benchmark's own scripts leaves no mark on them. */
const built = async <Module>(path: string): Promise<Module> =>
  (await import(new URL(`../../dist/src/${path}`, import.meta.url).href)) as Module;

export const loadDatabase = () =>
  built<typeof import("../../src/db/sqlite/database.js")>("db/sqlite/database.js");

export const loadMemoryStorage = () => built<typeof import("../../src/memory/sqlite.js")>("memory/sqlite.js");

export const loadMemorySchema = () => built<typeof import("../../src/memory/schema.js")>("memory/schema.js");

export const loadStorages = () => built<typeof import("../../src/engines/sqlite.js")>("engines/sqlite.js");

export const loadClock = () => built<typeof import("../../src/kernel/clock.js")>("kernel/clock.js");

export const loadLog = () => built<typeof import("../../src/kernel/log.js")>("kernel/log.js");

export const loadVersion = () => built<typeof import("../../src/config/version.js")>("config/version.js");

/** The services of records, as `app.ts` joins them. */
export const loadRecordServices = async () => ({
  ...(await built<typeof import("../../src/memory/service.js")>("memory/service.js")),
  ...(await built<typeof import("../../src/memory/service-files.js")>("memory/service-files.js")),
  ...(await built<typeof import("../../src/memory/service-refs.js")>("memory/service-refs.js")),
  ...(await built<typeof import("../../src/memory/service-roots.js")>("memory/service-roots.js")),
  ...(await built<typeof import("../../src/memory/service-search.js")>("memory/service-search.js")),
  ...(await built<typeof import("../../src/memory/service-verify.js")>("memory/service-verify.js")),
  ...(await built<typeof import("../../src/memory/service-watch.js")>("memory/service-watch.js")),
  ...(await built<typeof import("../../src/engines/tree.js")>("engines/tree.js")),
});
