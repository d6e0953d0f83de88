/** Ownership of a database file between real processes (daemon.md D6). */
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { acquireOwnership } from "../../src/db/sqlite/ownership.js";
import { verifies } from "../support/verifies.js";
import { openForTest, refusalOf, startProcess, temporaryFolder } from "./support.js";

const nobody = 65_534;
const isRoot = process.getuid?.() === 0;

type Outcome = { readonly owned?: true; readonly reason?: string; readonly tookMs?: number };

const tryToOwn = async (file: string, user?: number): Promise<Outcome> => {
  const other = startProcess("owner-process.ts", user === undefined ? [file] : [file, String(user)]);
  const outcome = (await other.firstLine()) as Outcome;
  await other.kill();
  return outcome;
};

verifies("D6", "a second process is refused the database within a second", async () => {
  const file = join(temporaryFolder(), "memoryd.db");
  await openForTest(file);
  const outcome = await tryToOwn(file);
  expect(outcome.reason).toBe("DATABASE_OWNED");
  expect(outcome.tookMs).toBeLessThan(1_000);
});

verifies("D6", "a database is free as soon as its owner was killed", async () => {
  const file = join(temporaryFolder(), "memoryd.db");
  const owner = startProcess("owner-process.ts", [file]);
  expect(await owner.firstLine()).toEqual({ owned: true });
  expect((await refusalOf(() => acquireOwnership(file))).reason).toBe("DATABASE_OWNED");
  await owner.kill();
  acquireOwnership(file).release();
});

test("a released database can be owned again at once, also by another process", async () => {
  const file = join(temporaryFolder(), "memoryd.db");
  acquireOwnership(file).release();
  acquireOwnership(file).release();
  expect(await tryToOwn(file)).toEqual({ owned: true });
});

test("a second owner in the same process is refused, and the first keeps its ownership", async () => {
  const file = join(temporaryFolder(), "memoryd.db");
  const database = await openForTest(file);
  const refusal = await refusalOf(() => acquireOwnership(file));
  expect(refusal.code).toBe("unavailable");
  expect(refusal.reason).toBe("DATABASE_OWNED");
  await database.check();
  expect(database.sizeBytes()).toBeGreaterThan(0);
  // What was called above must not have opened and closed the lock file: that would have dropped the lock.
  expect((await tryToOwn(file)).reason).toBe("DATABASE_OWNED");
});

test("a link to the database, or to its folder, is the same database", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "real"));
  const file = join(folder, "real", "memoryd.db");
  await openForTest(file);
  symlinkSync(file, join(folder, "link.db"));
  symlinkSync(join(folder, "real"), join(folder, "linked"));
  for (const name of [join(folder, "link.db"), join(folder, "linked", "memoryd.db")])
    expect((await refusalOf(() => acquireOwnership(name))).reason).toBe("DATABASE_OWNED");
});

test("a database that does not exist yet has the same owner under the name that it gets", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "real"));
  symlinkSync(join(folder, "real"), join(folder, "linked"));
  const ownership = acquireOwnership(join(folder, "linked", "memoryd.db"));
  expect(ownership.file).toBe(join(realpathSync(folder), "real", "memoryd.db"));
  const refusal = await refusalOf(() => acquireOwnership(join(folder, "real", "memoryd.db")));
  expect(refusal.reason).toBe("DATABASE_OWNED");
  ownership.release();
});

test("a link to nothing is refused, because its target would get a second lock later", async () => {
  const folder = temporaryFolder();
  symlinkSync(join(folder, "gone.db"), join(folder, "memoryd.db"));
  const refusal = await refusalOf(() => acquireOwnership(join(folder, "memoryd.db")));
  expect(refusal.reason).toBe("STORAGE_UNREACHABLE");
  expect(existsSync(join(folder, "gone.db"))).toBe(false);
});

test("the folder is created for its owner alone, and so is the lock file", () => {
  const folder = join(temporaryFolder(), "a", "b");
  acquireOwnership(join(folder, "memoryd.db")).release();
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, "memoryd.db.lock")).mode & 0o777).toBe(0o600);
});

test("a lock file that may not be written is refused, since two could own it", async () => {
  const folder = temporaryFolder();
  const file = join(folder, "memoryd.db");
  writeFileSync(`${file}.lock`, "", { mode: 0o600 });
  chmodSync(`${file}.lock`, 0o444);
  if (isRoot) chownSync(folder, nobody, nobody);
  const outcome = await tryToOwn(file, isRoot ? nobody : undefined);
  expect(outcome.reason).toBe("STORAGE_UNREACHABLE");
});

test("a folder that cannot hold the lock is named in the sentence", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "file"), "");
  const refusal = await refusalOf(() => acquireOwnership(join(folder, "file", "memoryd.db")));
  expect(refusal.code).toBe("unavailable");
  expect(refusal.message).toContain(join(folder, "file", "memoryd.db"));
});
