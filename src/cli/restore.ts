/**
 * `memoryd restore` (daemon.md D30): puts a backup in the place of the database while no daemon owns it. Every
 * workspace gets a new epoch, so that who followed the database's later life is told to begin anew.
 */
import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { Argument } from "commander";
import { progressFileOf, writeProgress } from "../config/progress.js";
import { stampFrom } from "../engines/backups.js";
import { restoreSqlite, type SqliteRestored } from "../engines/sqlite.js";
import { systemClock } from "../kernel/clock.js";
import { isMemorydError, MemorydError } from "../kernel/errors.js";
import { copyProgress, databaseSettings, localDatabaseFile } from "./backup.js";
import type { CommandSpec, Invocation } from "./command.js";
import { success } from "./exit-codes.js";
import { interruptedCode, listenForInterrupt } from "./interrupt.js";
import { visibleLine } from "./visible.js";

/** A daemon must not lose its file while it serves; says how to end it. */
function inUse(error: unknown): unknown {
  if (!isMemorydError(error) || error.reason !== "DATABASE_OWNED") return error;
  const message = "A daemon is using the database: run memoryd stop, then restore again.";
  return new MemorydError("unavailable", message, { reason: error.reason, cause: error });
}

/** A name beside the database that nothing has. */
function asideFor(databaseFile: string): string {
  const name = `${databaseFile}.replaced-${stampFrom(systemClock.nowMs())}`;
  for (let count = 1; ; count += 1) {
    const free = count === 1 ? name : `${name}-${count}`;
    if (!existsSync(free)) return free;
  }
}

async function restore({ output, isJson, config: load, ...invocation }: Invocation): Promise<number> {
  const config = load();
  const databaseFile = localDatabaseFile(config, "restore");
  const [named = ""] = invocation.arguments;
  const backupFile = resolve(invocation.environment.workingDir, named);
  if (statSync(backupFile, { throwIfNoEntry: false })?.isFile() !== true) {
    throw new MemorydError(
      "not_found",
      `There is no file ${backupFile}: name a copy that memoryd backup or the daemon made.`,
      { reason: "NO_BACKUP" },
    );
  }
  const asideFile = asideFor(databaseFile);
  using interrupt = listenForInterrupt();
  const { signal } = interrupt;
  const onProgress = copyProgress(output);
  let restored: SqliteRestored;
  try {
    restored = await restoreSqlite({ databaseFile, backupFile, asideFile, onProgress, signal });
  } catch (error) {
    if (!signal.aborted) throw inUse(error);
    output.note("Stopped; the database is as it was.");
    return interruptedCode;
  }
  const { isReplaced, workspaces, position } = restored;
  writeProgress(progressFileOf(config.paths.stateDir, databaseFile), position);
  const replaced = isReplaced ? asideFile : undefined;
  if (isJson) {
    await output.json({ database: databaseFile, restored: backupFile, replaced, workspaces });
    return success;
  }
  await output.write(
    `Restored ${visibleLine(backupFile)} to ${visibleLine(databaseFile)}; watches of its workspaces (${workspaces}) begin anew.\n`,
  );
  if (replaced !== undefined) {
    await output.write(
      `The database from before is ${visibleLine(replaced)}; delete it when you are sure.\n`,
    );
  }
  return success;
}

export const restoreCommand: CommandSpec = {
  description:
    "Puts a backup in the place of the database while no daemon runs: checks it, sets the present database aside " +
    "beside it, and gives every workspace a new epoch, so that a resumed watch begins with reset. The backup " +
    "stays as it is. One of an older version is migrated at the next start.",
  arguments: [new Argument("<file>", "A copy that memoryd backup or the daemon made")],
  settings: databaseSettings,
  examples: [
    [
      "memoryd stop && memoryd restore ~/.local/share/memoryd/backups/daily-20260304T050607Z.db",
      "Yesterday's",
    ],
    ["memoryd restore /mnt/usb/memoryd.db --data-dir ./try", "Into another instance, to look at"],
  ],
  run: restore,
};
