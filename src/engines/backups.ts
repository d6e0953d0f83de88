/**
 * The backups folder (daemon.md D30): what its files are called, which are there, and the daemon's own copy of
 * every day. Only daily copies are ever deleted: those that somebody asked for, and those made before a
 * migration, are not the daemon's to judge.
 *
 * | name | made by |
 * | --- | --- |
 * | `daily-20260304T050607Z.db` | the daemon, once a day |
 * | `backup-20260304T050607Z.db` | `memoryd backup` without a file |
 * | `before-….db` | a start that migrates |
 */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { privateFolderMode } from "../config/files.js";
import { unfinishedSuffix } from "../db/sqlite/copy.js";
import type { Clock } from "../kernel/clock.js";
import type { Log } from "../kernel/log.js";

export type BackupKind = "daily" | "backup";

export type Backup = { readonly name: string; readonly kind: BackupKind; readonly atMs: number };

const dayMs = 24 * 60 * 60 * 1_000;
const form = /^(daily|backup)-(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z\.db$/;

/** A moment as names have it: `20260304T050607Z`. */
export const stampFrom = (atMs: number): string =>
  new Date(atMs).toISOString().replace(/\.\d+/, "").replace(/[-:]/g, "");

export const backupName = (kind: BackupKind, atMs: number): string => `${kind}-${stampFrom(atMs)}.db`;

function backupFrom(name: string): Backup | undefined {
  const [, kind, ...digits] = form.exec(name) ?? [];
  if (kind !== "daily" && kind !== "backup") return undefined;
  const [year, month, day, hour, minute, second] = digits;
  const atMs = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(atMs) ? undefined : { name, kind, atMs };
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** The whole copies in the folder, the newest first; those made before migrations are left out. */
export const listBackups = (folder: string): readonly Backup[] =>
  namesIn(folder)
    .flatMap((name) => backupFrom(name) ?? [])
    .sort((a, b) => b.atMs - a.atMs);

export type DailyOptions = {
  readonly folder: string;
  /** How many daily copies stay; 1 at least. */
  readonly keep: number;
  /** Writes a checked copy to a file that is not there yet. */
  readonly copyTo: (target: string) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
};

/**
 * Makes the copy of the day when the newest is a day old, and deletes the daily ones that are too many; answers
 * its name, or `undefined` when it was not time yet. Rejects with why the copy could not be made.
 */
export async function backUpDaily({
  folder,
  keep,
  copyTo,
  clock,
  log,
}: DailyOptions): Promise<string | undefined> {
  const nowMs = clock.nowMs();
  // A copy that seems to come from the future was made by a clock that was wrong.
  const newest = dailiesIn(folder).find(({ atMs }) => atMs <= nowMs);
  if (newest !== undefined && nowMs - newest.atMs < dayMs) return undefined;
  mkdirSync(folder, { recursive: true, mode: privateFolderMode });
  removeUnfinished(folder);
  const name = backupName("daily", nowMs);
  await copyTo(join(folder, name));
  const others = dailiesIn(folder).filter((backup) => backup.name !== name);
  for (const old of others.slice(keep - 1)) rmSync(join(folder, old.name), { force: true });
  log.info({ name }, "the database was backed up");
  return name;
}

const dailiesIn = (folder: string): readonly Backup[] =>
  listBackups(folder).filter(({ kind }) => kind === "daily");

/** What a daemon left that was killed during its copy; only one daemon at a time uses the folder. */
function removeUnfinished(folder: string): void {
  const left = namesIn(folder).filter((name) => {
    const at = name.indexOf(unfinishedSuffix);
    return at > 0 && backupFrom(name.slice(0, at))?.kind === "daily";
  });
  for (const name of left) rmSync(join(folder, name), { force: true });
}

/** After the start, so that it is never slower for it. */
const firstLookMs = 60_000;
/** More often than daily, because a daemon may be asleep or fail when its hour comes. */
const lookEveryMs = 60 * 60 * 1_000;

/** Looks every hour whether it is time; a failed round is tried again in the next. Answers how to end that. */
export function startDailyBackups(round: () => Promise<unknown>, log: Log): () => void {
  let isRunning = false;
  const look = async (): Promise<void> => {
    if (isRunning) return;
    isRunning = true;
    try {
      await round();
    } catch (error) {
      log.warn({ error }, "the daily backup failed; it is tried again in an hour");
    } finally {
      isRunning = false;
    }
  };
  const first = setTimeout(look, firstLookMs);
  const every = setInterval(look, lookEveryMs);
  for (const timer of [first, every]) timer.unref();
  return () => {
    clearTimeout(first);
    clearInterval(every);
  };
}
