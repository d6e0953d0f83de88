/**
 * Small private files of an instance: written whole or not at all, in folders that only their owner may
 * enter. On systems without modes the user's own profile folder is what keeps others out (daemon.md D11).
 */
import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { isMemorydError, MemorydError } from "../kernel/errors.js";
import { randomHex } from "../kernel/ids.js";
import { hasFileModes } from "./env.js";

export const privateFileMode = 0o600;
export const privateFolderMode = 0o700;

export const errorCodeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/** Whether the error says that there is no such file, be it that a folder above it is none. */
export const isAbsence = (error: unknown): boolean => /^(?:ENOENT|ENOTDIR)$/.test(errorCodeOf(error) ?? "");

/** The path itself or the nearest one above it that there is, when that is no folder. */
function fileInTheWayOf(path: string): string | undefined {
  try {
    return statSync(path).isDirectory() ? undefined : path;
  } catch (error) {
    const above = dirname(path);
    return isAbsence(error) && above !== path ? fileInTheWayOf(above) : undefined;
  }
}

/** Runs what makes `path`; throws what to do about the disk or the folder that stood against it. */
function making<T>(path: string, make: () => T): T {
  try {
    return make();
  } catch (cause) {
    if (isMemorydError(cause)) throw cause;
    if (/^(?:ENOSPC|EDQUOT)$/.test(errorCodeOf(cause) ?? "")) {
      const message = `The disk that holds ${path} is full: free some space and try again.`;
      throw new MemorydError("unavailable", message, { reason: "DISK_FULL", cause });
    }
    const isInTheWay = /^(?:EEXIST|ENOTDIR)$/.test(errorCodeOf(cause) ?? "");
    const obstacle = isInTheWay ? fileInTheWayOf(path) : undefined;
    if (obstacle !== undefined) {
      const what = obstacle === path ? "" : `${path} cannot be made: `;
      const message = `${what}${obstacle} is a file, where memoryd needs a folder; name another place.`;
      throw new MemorydError("failed_precondition", message, { reason: "FOLDER_NOT_WRITABLE", cause });
    }
    const message = `${path} cannot be made (${errorCodeOf(cause) ?? "unknown fault"}): you must be able to write to its folder.`;
    throw new MemorydError("failed_precondition", message, { reason: "FOLDER_NOT_WRITABLE", cause });
  }
}

/** Makes the folder and those above it, private ones; one that is there already keeps its mode. */
export function ensureFolder(folder: string): void {
  making(folder, () => mkdirSync(folder, { recursive: true, mode: privateFolderMode }));
}

/** What only memoryd makes; a folder that holds one of them is an instance, whatever else lies in it. */
const marks: ReadonlySet<string> = new Set(["memoryd.db", "operator-token"]);
const nameOfOurs =
  /^(?:(?:memoryd\.(?:db|log|sock)|operator-token|daemon\.json|start-failure\.json)[-.\w]*|config\.json|starting|backups)$/;

/** Whether shutting others out of the folder takes nothing from anybody: it is empty, or holds an instance. */
export function isFolderOfOurs(folder: string): boolean {
  const names = readdirSync(folder);
  return names.some((name) => marks.has(name)) || names.every((name) => nameOfOurs.test(name));
}

/**
 * Makes the folder, or shuts others out of one that is ours; throws `failed_precondition` for a folder that
 * others may enter and that memoryd did not make, since they may be meant to.
 */
export function ensurePrivateFolder(folder: string): void {
  ensureFolder(folder);
  making(folder, () => {
    if (!hasFileModes || (statSync(folder).mode & 0o077) === 0) return;
    if (isFolderOfOurs(folder)) {
      chmodSync(folder, privateFolderMode);
      return;
    }
    throw new MemorydError(
      "failed_precondition",
      `${folder} may be entered by others; give memoryd a folder of its own, or run chmod 700 on it.`,
      { reason: "FOLDER_SHARED" },
    );
  });
}

/** Throws what to do when nothing can be appended to `file`, which is made when it is missing. */
export function assertAppendable(file: string): void {
  const refused = (message: string, cause: unknown): MemorydError =>
    new MemorydError("invalid_argument", message, { reason: "FILE_NOT_WRITABLE", cause });
  try {
    ensureFolder(dirname(file));
    closeSync(openSync(file, "a", privateFileMode));
  } catch (cause) {
    if (isMemorydError(cause))
      throw cause.code === "failed_precondition" ? refused(cause.message, cause) : cause;
    const code = errorCodeOf(cause) ?? "unknown fault";
    const why = code === "EISDIR" ? "it is a folder" : code;
    throw refused(`${file} cannot be written (${why}); name a file that you can write to.`, cause);
  }
}

/** A neighbour of `file` with the text in it, synced to the disk; the caller gives it its name. */
function writeNeighbour(file: string, text: string): string {
  ensurePrivateFolder(dirname(file));
  const neighbour = `${file}.${randomHex(6)}`;
  const descriptor = openSync(neighbour, "wx", privateFileMode);
  try {
    writeSync(descriptor, text);
    fsyncSync(descriptor);
  } catch (error) {
    rmSync(neighbour, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
  return neighbour;
}

/** Replaces `file` in one step: a reader sees the old text or the new one. */
export function replacePrivateFile(file: string, text: string): void {
  making(file, () => {
    const neighbour = writeNeighbour(file, text);
    try {
      renameSync(neighbour, file);
    } catch (error) {
      rmSync(neighbour, { force: true });
      throw error;
    }
  });
}

/** Makes `file` with its whole text; answers whether it did, `false` when there was one already. */
export function createPrivateFile(file: string, text: string): boolean {
  return making(file, () => {
    const neighbour = writeNeighbour(file, text);
    try {
      linkSync(neighbour, file);
      return true;
    } catch (error) {
      if (errorCodeOf(error) === "EEXIST") return false;
      throw error;
    } finally {
      rmSync(neighbour, { force: true });
    }
  });
}

/** The file's text, `undefined` when there is none. */
export function readFileIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}
