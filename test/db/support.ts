/** What the tests of the database layer share: folders that go again, a small table, real other processes. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";
import {
  type OpenSqliteOptions,
  openSqliteDatabase,
  type SqliteDatabase,
} from "../../src/db/sqlite/database.js";
import { systemClock } from "../../src/kernel/clock.js";
import { isMemorydError, type MemorydError } from "../../src/kernel/errors.js";
import { silentLog } from "../../src/kernel/log.js";
import { itemsStep } from "./items-step.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** A folder of this test's own. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "memoryd-db-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export const optionsFor = (file: string, options: Partial<OpenSqliteOptions> = {}): OpenSqliteOptions => ({
  file,
  migrations: [itemsStep],
  version: "1.0.0",
  log: silentLog,
  clock: systemClock,
  ...options,
});

/** Opens a database that is closed with the test. */
export async function openForTest(
  file: string,
  options: Partial<OpenSqliteOptions> = {},
): Promise<SqliteDatabase> {
  const database = await openSqliteDatabase(optionsFor(file, options));
  onTestFinished(() => database.close());
  return database;
}

/** The names of all items, sorted. */
export const itemNames = ({ connection }: Pick<SqliteDatabase, "connection">): unknown[] =>
  connection.prepare("select name from items order by name").pluck().all();

/** What the promise or function fails with, which must be an error of ours. */
export async function refusalOf(work: () => unknown): Promise<MemorydError> {
  try {
    await work();
  } catch (error) {
    if (isMemorydError(error)) return error;
    throw error;
  }
  return expect.fail("it was not refused");
}

/** Waits for something that another process or timer brings about. */
export async function until(condition: () => boolean, what: string, timeoutMs = 20_000): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs;
  while (!condition()) {
    if (performance.now() > deadlineMs) expect.fail(`waited in vain for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export type OtherProcess = {
  readonly child: ChildProcess;
  /** Every line it has printed, parsed. */
  readonly lines: unknown[];
  readonly ended: Promise<void>;
  /** The first line, or a failure with what it wrote on stderr. */
  readonly firstLine: () => Promise<unknown>;
  readonly kill: () => Promise<void>;
};

/** Runs a script of this folder in a process of its own, killed with the test. `limit` is set by `ulimit`. */
export function startProcess(script: string, args: readonly string[], limit?: string): OtherProcess {
  const node = [process.execPath, "--import", "tsx", join(root, "test/db", script), ...args];
  const [command, ...rest] =
    limit === undefined ? node : ["/bin/sh", "-c", `ulimit ${limit}; exec "$0" "$@"`, ...node];
  const child = spawn(command as string, rest, { cwd: root, stdio: ["pipe", "pipe", "pipe"] });
  const lines: unknown[] = [];
  let faults = "";
  child.stderr.on("data", (chunk) => {
    faults += chunk;
  });
  const reader = createInterface(child.stdout);
  reader.on("line", (line) => lines.push(JSON.parse(line)));
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const kill = (): Promise<void> => {
    child.kill("SIGKILL");
    return ended;
  };
  onTestFinished(kill);
  return {
    child,
    lines,
    ended,
    kill,
    firstLine: async () => {
      await until(() => lines.length > 0 || child.exitCode !== null, `a line of ${script}`);
      return lines[0] ?? expect.fail(`${script} ended without a line: ${faults}`);
    },
  };
}
