/**
 * Which workspace a program asks for (memory.md M7), from the folder that it works in. The first that is there:
 *
 * | place                                               | whose                                         |
 * | --------------------------------------------------- | --------------------------------------------- |
 * | the option `client.workspace`                       | whoever set it                                |
 * | `memoryd-workspace` in the worktree's git directory | this worktree alone                           |
 * | `memoryd-workspace` in the common git directory     | all worktrees of the repository               |
 * | derived from the common git directory               | the same, as long as it is not moved          |
 * | derived from the working directory                  | outside of git                                |
 *
 * Git is not run and its environment not read: what it wrote is enough, and a hook that git runs finds the same
 * workspace as a person does.
 */
import { closeSync, openSync, readSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { formats, isWorkspace } from "../config/formats.js";
import type { Config } from "../config/load.js";
import { MemorydError } from "../kernel/errors.js";
import { workspaceIdFromPath } from "./workspace-id.js";

export type FoundWorkspace = {
  readonly workspace: string;
  readonly from: "option" | "pin" | "repository" | "folder";
  /**
   * The folder whose files the workspace's records are about: the top of the worktree, or outside of git the
   * working directory. Absent in a bare repository, and when the workspace was named by hand, since nothing
   * then says that it belongs to this folder.
   */
  readonly root: string | undefined;
  /** Keeps the id with the repository, so that it stays when the checkout is moved; once is enough. */
  readonly pin: () => void;
};

/** A repository as it is seen from a folder. */
type Repository = {
  readonly top: string | undefined;
  readonly gitDir: string;
  /** What all worktrees share; the same as `gitDir` but in a linked worktree. */
  readonly commonDir: string;
};

export const pinFileName = "memoryd-workspace";
/** More than any of the files has that are read here. */
const maxFileBytes = 4_096;

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** What `look` answers, or nothing where the system does not let us look. */
function orNothing<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    // A folder that cannot be looked into is, for the choice of a workspace, a folder without a repository.
    return undefined;
  }
}

/** The beginning of a small file. */
function textOf(path: string): string | undefined {
  if (!isFile(path)) return undefined;
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(maxFileBytes);
    return bytes.toString("utf8", 0, readSync(file, bytes));
  } finally {
    closeSync(file);
  }
}

/** The git directory that `.git` in a folder is or names. */
function gitDirOf(folder: string): string | undefined {
  const path = join(folder, ".git");
  if (isFolder(path)) return isFile(join(path, "HEAD")) ? realpathSync(path) : undefined;
  const target = /^gitdir: (.+?)\r?\n?$/.exec(textOf(path) ?? "")?.[1];
  const gitDir = target === undefined ? undefined : resolve(folder, target);
  return gitDir !== undefined && isFolder(gitDir) ? realpathSync(gitDir) : undefined;
}

const isGitDir = (folder: string): boolean =>
  isFile(join(folder, "HEAD")) && isFolder(join(folder, "objects")) && isFolder(join(folder, "refs"));

function commonDirOf(gitDir: string): string {
  const target = textOf(join(gitDir, "commondir"))?.trim();
  return target === undefined || target === "" ? gitDir : realpathSync(resolve(gitDir, target));
}

function findRepository(start: string): Repository | undefined {
  for (let folder = start; ; folder = dirname(folder)) {
    const found = orNothing((): Repository | undefined => {
      const gitDir = gitDirOf(folder);
      if (gitDir !== undefined) return { top: folder, gitDir, commonDir: commonDirOf(gitDir) };
      return isGitDir(folder) ? { top: undefined, gitDir: folder, commonDir: folder } : undefined;
    });
    if (found !== undefined || dirname(folder) === folder) return found;
  }
}

/** The workspace in a pin file; one that holds none is a mistake that nobody else would tell. */
function pinnedIn(folder: string): string | undefined {
  const path = join(folder, pinFileName);
  const text = orNothing(() => textOf(path));
  if (text === undefined) return undefined;
  const word = text.trim();
  if (isWorkspace(word)) return word;
  throw new MemorydError(
    "failed_precondition",
    `${path} must hold ${formats.workspace.legal}; correct it or remove it.`,
    { reason: "BAD_WORKSPACE_PIN" },
  );
}

function writePin(folder: string, workspace: string): void {
  try {
    writeFileSync(join(folder, pinFileName), `${workspace}\n`, { flag: "wx" });
  } catch {
    // Somebody pinned it already, or the folder is not ours to write: the id is derived again each time.
  }
}

const nothingToPin = (): void => {};

/** The workspace of a program with this configuration that works in `workingDir`. */
export function findWorkspace(config: Config, workingDir: string): FoundWorkspace {
  const named = config.client.workspace;
  if (named !== undefined) return { workspace: named, from: "option", root: undefined, pin: nothingToPin };
  const folder = orNothing(() => realpathSync(workingDir)) ?? workingDir;
  const repository = findRepository(folder);
  if (repository === undefined) {
    return { workspace: workspaceIdFromPath(folder), from: "folder", root: folder, pin: nothingToPin };
  }
  const { top: root, gitDir, commonDir } = repository;
  const pinned = pinnedIn(gitDir) ?? pinnedIn(commonDir);
  if (pinned !== undefined) return { workspace: pinned, from: "pin", root, pin: nothingToPin };
  const workspace = workspaceIdFromPath(commonDir);
  const pin = config.memory.pinWorkspace ? () => writePin(commonDir, workspace) : nothingToPin;
  return { workspace, from: "repository", root, pin };
}
