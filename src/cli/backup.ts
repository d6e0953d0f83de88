/**
 * `memoryd backup` (daemon.md D30): a checked copy of the database, also while the daemon serves. This process
 * makes it, reading through SQLite beside the daemon: who may read the database's file may copy it, and a copy
 * costs the daemon nothing but the disk.
 */
import { existsSync, mkdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { Argument, Option } from "commander";
import { privateFolderMode } from "../config/files.js";
import type { Config } from "../config/load.js";
import { backupName } from "../engines/backups.js";
import { backUpSqlite, type SqliteBackupOptions } from "../engines/sqlite.js";
import { systemClock } from "../kernel/clock.js";
import { invalidArgument, MemorydError } from "../kernel/errors.js";
import type { CommandSpec, Invocation } from "./command.js";
import { success } from "./exit-codes.js";
import { interruptedCode, listenForInterrupt } from "./interrupt.js";
import { settingsOf } from "./options.js";
import type { Output } from "./output.js";
import { isOwned } from "./owner.js";
import { createProgress } from "./progress.js";
import { sizeText } from "./quantities.js";
import { findRunning } from "./running.js";
import { visibleLine } from "./visible.js";

/** What `backup` and `restore` take to know the instance and its database. */
export const databaseSettings = [
  ...settingsOf("daemon", ["data_dir", "database.url"]),
  ...settingsOf("client", ["client.url"]),
];

/** The database's file on this machine; throws where the command can have none. */
export function localDatabaseFile({ client, paths }: Config, command: string): string {
  if (client.url !== undefined) {
    throw new MemorydError(
      "failed_precondition",
      `memoryd ${command} works on the files of this machine, and --url or MEMORYD_URL names a daemon: ` +
        "run it on the daemon's machine, without either.",
      { reason: "LOCAL_ONLY" },
    );
  }
  if (paths.databaseFile !== undefined) return paths.databaseFile;
  throw new MemorydError(
    "failed_precondition",
    `The database is in memory, so there is nothing for memoryd ${command}; memoryd memory export writes records as files.`,
    { reason: "IN_MEMORY" },
  );
}

/** Tells a person how far a copy is. */
export function copyProgress(output: Output): NonNullable<SqliteBackupOptions["onProgress"]> {
  let text = "";
  const tell = createProgress(output, () => text);
  return (progress) => {
    text =
      progress === "checking"
        ? "Copied; checking the copy …"
        : `${sizeText(progress.copiedBytes)} of ${sizeText(progress.totalBytes)} copied …`;
    tell();
  };
}

async function assertThere(config: Config, databaseFile: string): Promise<void> {
  using daemon = await findRunning(config);
  if (existsSync(databaseFile) && (daemon === undefined || isOwned(databaseFile))) return;
  const sentence =
    daemon === undefined
      ? `There is no database at ${databaseFile}: name another with --data-dir or --database-url.`
      : `The daemon that runs serves another database than ${databaseFile}: name that with --database-url.`;
  throw new MemorydError("not_found", sentence, { reason: "NO_DATABASE" });
}

/** The path without links, as far as there is something. */
const realPath = (file: string): string =>
  existsSync(file) ? realpathSync.native(file) : join(realpathSync.native(dirname(file)), basename(file));

/** The file to write, absolute; never one that the database consists of. */
function targetFrom(named: string, workingDir: string, databaseFile: string): string {
  const refuse = (description: string) => invalidArgument([{ field: "FILE", description }]);
  const target = resolve(workingDir, named);
  if (statSync(dirname(target), { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw refuse(`lies in ${dirname(target)}, which is no folder; make it first`);
  }
  if (statSync(target, { throwIfNoEntry: false })?.isFile() === false) {
    throw refuse("must be a file that is not there yet, or with --force one to replace");
  }
  const database = realPath(databaseFile);
  if (["", "-wal", "-shm", ".lock"].some((end) => realPath(target) === `${database}${end}`)) {
    throw refuse("belongs to the database itself; name another one");
  }
  return target;
}

async function backUp({ output, isJson, isSet, config: load, ...invocation }: Invocation): Promise<number> {
  const config = load();
  const databaseFile = localDatabaseFile(config, "backup");
  const { backupsDir } = config.paths;
  await assertThere(config, databaseFile);
  const [named] = invocation.arguments;
  if (named === undefined) mkdirSync(backupsDir, { recursive: true, mode: privateFolderMode });
  const usual = join(backupsDir, backupName("backup", systemClock.nowMs()));
  const target = targetFrom(named ?? usual, invocation.environment.workingDir, databaseFile);
  using interrupt = listenForInterrupt();
  const { signal } = interrupt;
  try {
    const replaces = isSet("force");
    await backUpSqlite({ file: databaseFile, target, replaces, onProgress: copyProgress(output), signal });
  } catch (error) {
    if (!signal.aborted) throw error;
    output.note("Stopped; no copy was written.");
    return interruptedCode;
  }
  const sizeBytes = statSync(target).size;
  if (isJson) await output.json({ file: target, sizeBytes });
  else await output.write(`Wrote ${visibleLine(target)} (${sizeText(sizeBytes)}), read through and whole.\n`);
  return success;
}

export const backupCommand: CommandSpec = {
  description:
    "Writes a copy of the database into one file, which only you may read, and reads it through before it gets " +
    "its name. The daemon may go on serving; the copy shows one moment. Without a file it goes into the backups " +
    "folder, where it stays until you delete it. memoryd restore puts a copy back.",
  arguments: [new Argument("[file]", "The file to write; one that is there is refused")],
  options: [new Option("--force", "Replace the file when it is there")],
  settings: databaseSettings,
  examples: [
    ["memoryd backup", "A copy into the backups folder"],
    ["memoryd backup /mnt/usb/memoryd.db --force", "A copy elsewhere, in the place of the last one"],
  ],
  run: backUp,
};
