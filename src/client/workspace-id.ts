/**
 * The workspace that a folder stands for when nobody named one (memory.md M7): a word that people recognise
 * and a hash of the folder's real path, so that two checkouts of one name never meet. Pure.
 */
import { createHash } from "node:crypto";
import { slug } from "../memsync/slug.js";

const gitFolder = ".git";
const fallback = "workspace";
const maxWordCharacters = 64;
const hashCharacters = 12;

/** One spelling of a path on Windows; other systems have one anyway. */
const canonical = (realPath: string): string =>
  /^[A-Za-z]:[\\/]/.test(realPath)
    ? `${realPath.slice(0, 1).toLowerCase()}${realPath.slice(1).replaceAll("\\", "/")}`
    : realPath;

/** The last name of the path that says something: a repository's own folder is called like any other's. */
function wordOf(path: string): string {
  const names = path.split("/").filter((name) => name !== "");
  const last = names.at(-1) === gitFolder ? names.at(-2) : names.at(-1);
  const word = slug((last ?? "").replace(/\.git$/, ""), fallback);
  return word.slice(0, maxWordCharacters).replace(/-$/, "");
}

/** The id that the folder's real path gives: `widget-8c7327e6e329`. */
export function workspaceIdFromPath(realPath: string): string {
  const path = canonical(realPath);
  const hash = createHash("sha256").update(path, "utf8").digest("hex").slice(0, hashCharacters);
  return `${wordOf(path)}-${hash}`;
}
