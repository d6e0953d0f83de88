/**
 * The files that an import is given: those of a folder, or named ones, with the path that each has for the
 * daemon. They are only read. What cannot be sent is told like what the daemon refuses.
 *
 * | in a folder | |
 * | --- | --- |
 * | `*.md`, `records/*.md` | sent |
 * | a link, or anything else that is no plain file | refused: what lies outside of the folder is not its own |
 * | all else | left alone |
 */
import { lstatSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { errorCodeOf, isAbsence } from "../../config/files.js";
import { invalidArgument } from "../../kernel/errors.js";
import { compareUtf8 } from "../../kernel/utf8.js";
import type { RecordFile } from "../../memory/files-format.js";
import { limits } from "../../memory/model.js";
import { visibleLine } from "../visible.js";

/** A file to import. */
export type Candidate = {
  /** Where it is here, as it is shown. */
  readonly shown: string;
  /** What the daemon is told. */
  readonly path: string;
  /** Its bytes, or why there are none. */
  readonly read: () => RecordFile | Unsendable;
};

export type Unsendable = { readonly reason: string; readonly message: string };

const recordsFolder = "records";
const isRecordFile = (name: string): boolean => name.endsWith(".md");

function readFile(file: string, path: string, followsLinks: boolean): RecordFile | Unsendable {
  try {
    const stats = followsLinks ? statSync(file) : lstatSync(file);
    if (!stats.isFile()) {
      return { reason: "not_regular", message: "It is no plain file; put one in its place." };
    }
    if (stats.size > limits.fileBytes) {
      return {
        reason: "too_large",
        message: `The file is over ${limits.fileBytes} bytes; make it shorter.`,
      };
    }
    return { path, content: readFileSync(file) };
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === undefined) throw error;
    return { reason: "unreadable", message: `It cannot be read (${code}); see that it is yours to read.` };
  }
}

const candidate = (file: string, path: string, followsLinks: boolean): Candidate => ({
  shown: file,
  path,
  read: () => readFile(file, path, followsLinks),
});

function filesOfFolder(folder: string): readonly Candidate[] {
  const names = readdirSync(folder);
  const own = names.filter(isRecordFile);
  const hasRecords = names.includes(recordsFolder) && lstatSync(join(folder, recordsFolder)).isDirectory();
  const further = hasRecords ? readdirSync(join(folder, recordsFolder)).filter(isRecordFile) : [];
  return [...own, ...further.map((name) => `${recordsFolder}/${name}`)]
    .sort(compareUtf8)
    .map((path) => candidate(join(folder, path), path, false));
}

/** A named file lies among the records when its folder is called so. */
function fileNamed(file: string): Candidate {
  const isAmongRecords = basename(dirname(resolve(file))) === recordsFolder;
  const name = basename(file);
  return candidate(file, isAmongRecords ? `${recordsFolder}/${name}` : name, true);
}

/** What the arguments name, in their order. Throws `invalid_argument` for one that is not there. */
export function candidatesFrom(paths: readonly string[]): readonly Candidate[] {
  return paths.flatMap((path) => {
    try {
      return statSync(path).isDirectory() ? filesOfFolder(path) : [fileNamed(path)];
    } catch (error) {
      if (!isAbsence(error)) throw error;
      throw invalidArgument([
        { field: "FILE", description: `names ${visibleLine(path)}, and there is no such file or folder` },
      ]);
    }
  });
}
