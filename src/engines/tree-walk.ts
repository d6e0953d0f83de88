/**
 * Finding a place below a root one name at a time (memory.md M73): a link is read and taken apart here, never
 * followed by the system, so that nothing outside of the root is even looked at. Where a link leads is decided
 * by its text alone; what is there plays no part.
 */
import type { BigIntStats } from "node:fs";
import * as nodeFiles from "node:fs/promises";
import { isAbsolute, join, sep } from "node:path";

/** What of the file system is used; a test hands in one that refuses or changes under the reader's hands. */
export type TreeFiles = Pick<typeof nodeFiles, "lstat" | "readlink" | "realpath" | "open">;

export const systemFiles: TreeFiles = nodeFiles;

export type Walked =
  | { readonly kind: "at"; readonly path: string; readonly status: BigIntStats }
  | { readonly kind: "nothing" | "outside" | "unreadable" };

/** As many links as Linux follows before it calls them endless. */
const maxLinks = 40;

const codeOf = (error: unknown): unknown =>
  error instanceof Error && "code" in error ? error.code : undefined;

const absentCodes: ReadonlySet<unknown> = new Set(["ENOENT", "ENOTDIR", "ENAMETOOLONG", "ELOOP", "EINVAL"]);

/** What a refusal of the system means: that nothing is there, or that it does not let us look. */
export const kindOfFailure = (error: unknown): "nothing" | "unreadable" =>
  absentCodes.has(codeOf(error)) ? "nothing" : "unreadable";

/** The names that lead from the root to an absolute path below it; `undefined` when it is elsewhere. */
function namesBelow(path: string, root: string): string[] | undefined {
  if (path === root) return [];
  return path.startsWith(`${root}${sep}`) ? path.slice(root.length + sep.length).split(sep) : undefined;
}

/** On Windows a name with one of these is a path of its own. */
const isOneName = (name: string): boolean => sep === "/" || !/[\\:]/.test(name);

/** What stands below the root, given by its names; the root is a real path. */
export async function walk(files: TreeFiles, root: string, names: readonly string[]): Promise<Walked> {
  const ahead = [...names];
  const here: string[] = [];
  let links = 0;
  try {
    for (let name = ahead.shift(); name !== undefined; name = ahead.shift()) {
      if (name === "" || name === ".") continue;
      if (name === "..") {
        if (here.pop() === undefined) return { kind: "outside" };
        continue;
      }
      if (!isOneName(name)) return { kind: "outside" };
      const path = join(root, ...here, name);
      const status = await files.lstat(path, { bigint: true });
      if (!status.isSymbolicLink()) {
        if (ahead.length === 0) return { kind: "at", path, status };
        here.push(name);
        continue;
      }
      links += 1;
      if (links > maxLinks) return { kind: "nothing" };
      const target = await files.readlink(path);
      const below = isAbsolute(target) ? namesBelow(target, root) : target.split(sep);
      if (below === undefined) return { kind: "outside" };
      if (isAbsolute(target)) here.length = 0;
      ahead.unshift(...below);
    }
    const path = join(root, ...here);
    return { kind: "at", path, status: await files.lstat(path, { bigint: true }) };
  } catch (error) {
    return { kind: kindOfFailure(error) };
  }
}
