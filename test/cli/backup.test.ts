/** backup and restore (daemon.md D30) beside real daemons, as a person or a script runs them. */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { createMemorydClients } from "../../src/client/clients.js";
import { findDaemon } from "../../src/client/find.js";
import { loadConfig } from "../../src/config/load.js";
import { type Daemon, startDaemon } from "../support/daemon.js";
import { temporaryFolder } from "../support/folder.js";
import { verifies } from "../support/verifies.js";
import { environmentWith, memoryd } from "./command-line.js";

const epochOf = (position: string): string => position.split(".")[0] ?? "";

/** Typed calls to the daemon of a folder. */
async function clientsOf({ folder }: Daemon) {
  const config = loadConfig({ flags: { data_dir: folder }, environment: environmentWith() });
  const daemon = await findDaemon(config);
  if (daemon === undefined) throw new Error("no daemon was found");
  return createMemorydClients(daemon.transport);
}

async function setCursor(daemon: Daemon, content: string): Promise<void> {
  await (await clientsOf(daemon)).memory.updateCursor({ content });
}

const cursorOf = async (daemon: Daemon): Promise<string> =>
  (await (await clientsOf(daemon)).memory.getCursor({})).content;

/** How a watch begins, and where it stands then. */
async function begins(daemon: Daemon, position = "") {
  const abort = new AbortController();
  const { records } = await clientsOf(daemon);
  try {
    for await (const message of records.watchRecords({ position }, { signal: abort.signal })) {
      return { how: message.event.case, position: message.position };
    }
    throw new Error("the watch ended without a message");
  } finally {
    abort.abort();
  }
}

const run = (folder: string, ...args: readonly string[]) => memoryd([...args, "--data-dir", folder]);

/** A folder whose daemon wrote `first`, was backed up to `copy`, wrote `later`, and has stopped. */
async function backedUp() {
  const daemon = await startDaemon();
  const { folder } = daemon;
  const copy = join(temporaryFolder(), "copy.db");
  await setCursor(daemon, "first");
  const made = await run(folder, "backup", copy, "--json");
  expect(made.code, made.stderr).toBe(0);
  await setCursor(daemon, "later");
  const { position } = await begins(daemon);
  await daemon.stop();
  return { folder, copy, position, made: made.json() };
}

describe("memoryd backup", () => {
  verifies("D30", "writes a checked copy while the daemon serves and is written to", async () => {
    const daemon = await startDaemon();
    const copy = join(temporaryFolder(), "copy.db");
    let isDone = false;
    const writing = (async () => {
      for (let count = 0; !isDone; count += 1) await setCursor(daemon, `number ${count}`);
    })();
    await setCursor(daemon, "something");
    const ran = await run(daemon.folder, "backup", copy);
    isDone = true;
    await writing;
    expect(ran.code, ran.stderr).toBe(0);
    expect(ran.stdout).toMatch(/^Wrote .*copy\.db \(.* KiB\), read through and whole\.\n$/);
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(copy, ".."))).toEqual(["copy.db"]);
    const database = new Database(copy, { readonly: true });
    expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
    expect(database.pragma("journal_mode", { simple: true })).toBe("delete");
    expect(database.prepare("select count(*) from memory_cursors").pluck().get()).toBe(1);
    database.close();
  });

  test("puts one without a name into the backups folder, where status and doctor see it", async () => {
    const daemon = await startDaemon();
    await setCursor(daemon, "x");
    expect((await run(daemon.folder, "status", "--json")).json()).toMatchObject({ lastBackup: null });
    const { file } = (await run(daemon.folder, "backup", "--json")).json() as { file: string };
    expect(file).toMatch(/backups\/backup-\d{8}T\d{6}Z\.db$/);
    const { lastBackup } = (await run(daemon.folder, "status", "--json")).json() as { lastBackup: string };
    expect(lastBackup).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/);
    expect((await run(daemon.folder, "status")).stdout).toMatch(/last backup +\d{4}-/);
    expect((await run(daemon.folder, "doctor")).stdout).toMatch(/backups +1 copy, the newest .* old/);
  });

  test("replaces a file only with --force, and never one of the database", async () => {
    const { folder, copy } = await backedUp();
    const before = readFileSync(copy);
    const refused = await run(folder, "backup", copy, "--json");
    expect([refused.code, refused.error().reason]).toEqual([5, "FILE_EXISTS"]);
    expect(readFileSync(copy)).toEqual(before);
    expect((await run(folder, "backup", copy, "--force")).code).toBe(0);
    expect(readFileSync(copy)).not.toEqual(before);
    for (const end of ["", "-wal", ".lock"]) {
      const own = await run(folder, "backup", join(folder, `memoryd.db${end}`), "--force");
      expect([own.code, own.stderr]).toEqual([2, expect.stringContaining("belongs to the database")]);
    }
  });

  test("says why it cannot reach a daemon elsewhere, one in memory, or a database that is not there", async () => {
    const folder = temporaryFolder();
    const elsewhere = await run(folder, "backup", "--url", "http://127.0.0.1:9");
    expect([elsewhere.code, elsewhere.stderr]).toEqual([6, expect.stringContaining("daemon's machine")]);
    const inMemory = await run(folder, "backup", "--database-url", "sqlite::memory:");
    expect([inMemory.code, inMemory.stderr]).toEqual([6, expect.stringContaining("in memory")]);
    const nothing = await run(folder, "backup");
    expect([nothing.code, nothing.stderr]).toEqual([4, expect.stringContaining("There is no database")]);
    expect(existsSync(join(folder, "memoryd.db"))).toBe(false);
  });
});

describe("memoryd restore", () => {
  verifies("D30", "puts a copy back, keeps the present one, and watches begin with reset", async () => {
    const { folder, copy, position } = await backedUp();
    const ran = await run(folder, "restore", copy, "--json");
    expect(ran.code, ran.stderr).toBe(0);
    const { replaced, ...rest } = ran.json() as { replaced: string };
    expect(rest).toEqual({ database: join(folder, "memoryd.db"), restored: copy, workspaces: 1 });
    const old = new Database(replaced, { readonly: true });
    expect(old.prepare("select content from memory_cursors").pluck().get()).toBe("later");
    old.close();
    expect(existsSync(copy)).toBe(true);
    const daemon = await startDaemon({ folder });
    expect(await cursorOf(daemon)).toBe("first");
    for (const text of ["a", "b", "c"]) await setCursor(daemon, text);
    const resumed = await begins(daemon, position);
    expect(resumed.how).toBe("reset");
    expect(epochOf(resumed.position)).toMatch(/^[0-9a-f]{32}$/);
    expect(epochOf(resumed.position)).not.toBe(epochOf(position));
    await daemon.stop();
    const again = await startDaemon({ folder });
    expect((await begins(again, resumed.position)).how).toBe("ready");
  });

  verifies("D30", "is refused while a daemon owns the database", async () => {
    const { folder, copy } = await backedUp();
    const daemon = await startDaemon({ folder });
    const refused = await run(folder, "restore", copy, "--json");
    expect(refused.code).toBe(9);
    expect(refused.error()).toMatchObject({ reason: "DATABASE_OWNED" });
    expect(refused.error().message).toContain("memoryd stop");
    expect(await cursorOf(daemon)).toBe("later");
  });

  verifies(
    "D30",
    "refuses what is damaged, foreign, newer or the database itself, and changes nothing",
    async () => {
      const { folder, copy } = await backedUp();
      const database = join(folder, "memoryd.db");
      const before = readFileSync(database);
      const files = readdirSync(folder);
      const at = (name: string): string => join(copy, "..", name);
      const bytes = readFileSync(copy);
      writeFileSync(at("cut.db"), bytes.subarray(0, Math.floor(bytes.length / 8192) * 4096));
      writeFileSync(
        at("text.db"),
        "this is no database at all, but long enough to be read as one".repeat(99),
      );
      copyFileSync(copy, at("newer.db"));
      const newer = new Database(at("newer.db"));
      newer.exec("insert into memoryd_migrations values (999, 'memory/9999-later', 'x', 0, '9.9.9')");
      newer.close();
      const foreign = new Database(at("foreign.db"));
      foreign.exec("create table t (a)");
      foreign.close();
      const outcomes: unknown[] = [];
      for (const name of ["cut.db", "text.db", "newer.db", "foreign.db", "absent.db"]) {
        const { code, error } = { ...(await run(folder, "restore", at(name), "--json")) };
        outcomes.push([name, code, error().reason]);
      }
      expect(outcomes).toEqual([
        ["cut.db", 6, "DATABASE_DAMAGED"],
        ["text.db", 6, "NOT_A_DATABASE"],
        ["newer.db", 6, "DATABASE_NEWER"],
        ["foreign.db", 6, "FOREIGN_DATABASE"],
        ["absent.db", 4, "NO_BACKUP"],
      ]);
      expect((await run(folder, "restore", database)).code).toBe(2);
      expect(readFileSync(database)).toEqual(before);
      expect(readdirSync(folder)).toEqual(files);
    },
  );

  test("works where the present database is damaged, or where there is none", async () => {
    const { folder, copy } = await backedUp();
    writeFileSync(join(folder, "memoryd.db"), "spoiled".repeat(1_000));
    writeFileSync(join(folder, "memoryd.db-wal"), "its log");
    const { replaced } = (await run(folder, "restore", copy, "--json")).json() as { replaced: string };
    expect(readFileSync(replaced, "utf8")).toContain("spoiled");
    expect(readFileSync(`${replaced}-wal`, "utf8")).toBe("its log");
    const other = temporaryFolder();
    const fresh = await run(other, "restore", copy, "--json");
    expect(fresh.json()).toEqual({ database: join(other, "memoryd.db"), restored: copy, workspaces: 1 });
    for (const at of [folder, other]) {
      const daemon = await startDaemon({ folder: at });
      expect(await cursorOf(daemon)).toBe("first");
    }
    chmodSync(copy, 0o400);
    expect(statSync(join(other, "memoryd.db")).mode & 0o777).toBe(0o600);
  });
});

verifies(
  "MV63",
  "a file that is put back by hand is noticed at the start, and a watch begins with reset",
  async () => {
    const daemon = await startDaemon();
    const { folder } = daemon;
    await setCursor(daemon, "first");
    await daemon.stop();
    const database = join(folder, "memoryd.db");
    const aside = join(temporaryFolder(), "by-hand.db");
    copyFileSync(database, aside);
    const second = await startDaemon({ folder });
    expect((await begins(second)).position).toMatch(/\.1$/);
    await setCursor(second, "later");
    const { position } = await begins(second);
    await second.stop();

    const unchanged = await startDaemon({ folder });
    expect((await begins(unchanged, position)).how).toBe("ready");
    await unchanged.stop();

    copyFileSync(aside, database);
    const third = await startDaemon({ folder });
    for (const text of ["a", "b", "c"]) await setCursor(third, text);
    const resumed = await begins(third, position);
    expect(resumed.how).toBe("reset");
    expect(third.stderr()).toContain("put here by hand");
    await third.kill();
    // What a crash leaves unnoted is no file from elsewhere.
    const fourth = await startDaemon({ folder });
    expect((await begins(fourth, resumed.position)).how).toBe("ready");
  },
);
