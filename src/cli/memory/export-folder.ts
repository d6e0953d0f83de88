/**
 * The folder that an export is written into. A file is replaced in one step and only when its bytes differ, so
 * that a folder under version control shows what changed. Nothing is deleted, and nothing is written outside of
 * the folder, whatever paths a daemon sends and wherever links in the folder lead.
 */
import { lstatSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { errorCodeOf, isAbsence, replacePrivateFile } from "../../config/files.js";
import { MemorydError } from "../../kernel/errors.js";
import { placeFromPath, type RecordFile } from "../../memory/files-format.js";
import { visibleLine } from "../visible.js";

const recordsFolder = "records";

export type ExportFolder = {
  /** Writes the file where it differs; answers whether it did. */
  readonly write: (file: RecordFile) => boolean;
  /** Paths of record files in the folder that were not written to by this export, in byte order. */
  readonly others: () => readonly string[];
};

const unexpectedPath = (): MemorydError =>
  new MemorydError(
    "unavailable",
    "The daemon sent a file that no export of memoryd has; check whose address that is.",
    { reason: "UNEXPECTED_ANSWER" },
  );

const linkInside = (path: string): MemorydError =>
  new MemorydError(
    "failed_precondition",
    `${visibleLine(path)} is not a folder of its own, and what is exported stays inside the named one; remove it.`,
    { reason: "FOLDER_NOT_USABLE" },
  );

function makeFolder(path: string, isNamed: boolean): void {
  try {
    mkdirSync(path, { recursive: isNamed, mode: 0o700 });
  } catch (error) {
    if (errorCodeOf(error) !== "EEXIST" || isNamed) throw error;
  }
  if (!isNamed && !lstatSync(path).isDirectory()) throw linkInside(path);
}

/** Whether the very file, and none behind a link, has these bytes. */
function holds(path: string, content: Uint8Array): boolean {
  try {
    return lstatSync(path).isFile() && readFileSync(path).equals(content);
  } catch (error) {
    if (isAbsence(error)) return false;
    throw error;
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isAbsence(error)) return [];
    throw error;
  }
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function textOf({ content }: RecordFile): string {
  try {
    return decoder.decode(content);
  } catch {
    throw unexpectedPath();
  }
}

/** Opens the folder, and makes it where it is not there. */
export function openExportFolder(folder: string): ExportFolder {
  makeFolder(folder, true);
  const written = new Set<string>();
  let hasRecords = false;
  return {
    write(file) {
      if (placeFromPath(file.path) === undefined) throw unexpectedPath();
      if (file.path.includes("/") && !hasRecords) {
        makeFolder(join(folder, recordsFolder), false);
        hasRecords = true;
      }
      written.add(file.path);
      const path = join(folder, file.path);
      if (holds(path, file.content)) return false;
      replacePrivateFile(path, textOf(file));
      return true;
    },
    others: () =>
      namesIn(join(folder, recordsFolder))
        .map((name) => `${recordsFolder}/${name}`)
        .filter((path) => placeFromPath(path) !== undefined && !written.has(path))
        .sort(),
  };
}
