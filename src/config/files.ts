/**
 * Small private files of an instance: written whole or not at all, in folders that only their owner may
 * enter. On systems without modes the user's own profile folder is what keeps others out (daemon.md D11).
 */
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { isMemorydError, MemorydError } from "../kernel/errors.js";
import { randomHex } from "../kernel/ids.js";

export const privateFileMode = 0o600;
export const privateFolderMode = 0o700;

export const errorCodeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/** Whether the error says that there is no such file, be it that a folder above it is none. */
export const isAbsence = (error: unknown): boolean => /^(?:ENOENT|ENOTDIR)$/.test(errorCodeOf(error) ?? "");

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
    const message = `${path} cannot be made (${errorCodeOf(cause) ?? "unknown fault"}): you must be able to write to its folder.`;
    throw new MemorydError("failed_precondition", message, { reason: "FOLDER_NOT_WRITABLE", cause });
  }
}

/** Makes the folder and those above it; one that is there already keeps its mode. */
export function ensurePrivateFolder(folder: string): void {
  making(folder, () => mkdirSync(folder, { recursive: true, mode: privateFolderMode }));
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
