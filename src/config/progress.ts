/**
 * How far a database had come, kept in the state folder and so apart from it (daemon.md D30): when a file is put
 * back by hand, the database has come less far than is remembered here. Each database of an instance has a file
 * of its own, named by where it lies.
 *
 * What is remembered is a lower bound, written every minute and at each end and never before it is on disk: a
 * crash makes it older, and that is never taken for a restored file.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { readFileIfThere, replacePrivateFile } from "./files.js";

const hashCharacters = 12;

export const progressFileOf = (stateDir: string, databaseFile: string): string => {
  const hash = createHash("sha256").update(databaseFile, "utf8").digest("hex").slice(0, hashCharacters);
  return join(stateDir, `progress-${hash}.json`);
};

/** `undefined` when nothing is remembered, or nothing that can be read. */
export function readProgress(file: string): number | undefined {
  try {
    const value: unknown = JSON.parse(readFileIfThere(file) ?? "null");
    const position = typeof value === "object" && value !== null && "position" in value ? value.position : -1;
    return Number.isSafeInteger(position) && Number(position) >= 0 ? Number(position) : undefined;
  } catch {
    return undefined;
  }
}

export const writeProgress = (file: string, position: number): void =>
  replacePrivateFile(file, `${JSON.stringify({ position })}\n`);
