/**
 * `npm run bench`: the platform's limit, the storage's limit and memoryd in one run, as tables with ratios.
 * Nothing is asserted about absolute times; what the numbers mean is in docs/performance.md.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { writeTables } from "./document.js";
import { describeMachine, type MemoryInUse, measureFsync } from "./machine.js";
import { type Options, optionsFrom, type Part, UsageError, usage } from "./options.js";
import { print, say } from "./output.js";
import { measureGroupCommit } from "./parts/group-commit.js";
import { measureRecords } from "./parts/records.js";
import { measureServing } from "./parts/serving.js";
import { measureStartUp } from "./parts/start-up.js";
import { endProcesses, runScript } from "./processes.js";
import { figure, type Section, textFrom } from "./table.js";

function machineSection(options: Options, args: readonly string[]): Section {
  const { p50Ms, p99Ms } = measureFsync(options.folder, options.fsyncs);
  const command = ["npm run bench", ...(args.length > 0 ? ["--", ...args] : [])].join(" ");
  return {
    title: "Machine",
    notes: [
      ...describeMachine(options.folder),
      `an fsync of one more page of a file: p50 ${figure(p50Ms)} ms, p99 ${figure(p99Ms)} ms`,
      `\`${command}\``,
    ],
  };
}

async function seed(options: Options): Promise<string> {
  const folder = mkdtempSync(join(options.folder, "large-"));
  const { records } = options;
  say(`filling a database with ${records.toLocaleString("en-US")} records`);
  const databaseFile = join(folder, "memoryd.db");
  await runScript("seed", { databaseFile, backupsDir: join(folder, "backups"), records });
  return folder;
}

async function run(options: Options, args: readonly string[]): Promise<void> {
  const texts: string[] = [];
  const report = (section: Section): void => {
    const text = textFrom(section);
    texts.push(text);
    print(text);
  };
  const isAsked = (...parts: Part[]): boolean => parts.some((part) => options.parts.includes(part));

  report(machineSection(options, args));
  if (isAsked("group-commit")) for (const section of await measureGroupCommit(options)) report(section);
  if (isAsked("records")) for (const section of await measureRecords(options)) report(section);
  const large = isAsked("daemon", "start-up") ? await seed(options) : "";
  let memory: MemoryInUse | undefined;
  if (isAsked("platform", "storage", "daemon")) {
    const serving = await measureServing(options, large);
    memory = serving.memory;
    for (const section of serving.sections) report(section);
  }
  if (isAsked("start-up")) report(await measureStartUp(options, large, memory));
  if (options.isWrite) writeTables(texts.join("\n"));
}

async function main(args: readonly string[]): Promise<void> {
  const asked = optionsFrom(args);
  const folder = mkdtempSync(join(asked.folder, "memoryd-bench-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.once(signal, async () => {
      await endProcesses();
      process.exit(128 + constants.signals[signal]);
    });
  await run({ ...asked, folder }, args);
}

const args = process.argv.slice(2);
try {
  await main(args);
} catch (error) {
  say(error instanceof UsageError ? `${error.message}\n${usage}` : (error as Error).message);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
