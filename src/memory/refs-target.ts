/**
 * What looking a ref up means, by its kind and target (memory.md M72). Pure: where something is looked up is
 * said, never done, and nothing of a target is ever executed (M71).
 *
 * | rule | kind    | target                                        | looked up                                    |
 * | ---- | ------- | --------------------------------------------- | -------------------------------------------- |
 * | M72b | doc     | `scheme://…`                                  | nothing: `remote`                            |
 * | M72a | doc     | any other                                     | a path                                       |
 * | M72c | node    | `project:D`                                   | a folder D                                   |
 * | M72d | node    | `target:D:NAME`                               | a folder D, which only its absence tells of  |
 * | M72e | node    | `symbol:P#NAME`, P with a dot, NAME dotted    | the last part of NAME as a word in P         |
 * | M72a | node    | `file:P`                                      | the path P                                   |
 * | M72b | node    | `scheme://…`, other `word:…`                  | nothing: `remote`, `foreign_id`              |
 * | M72a | node    | any other                                     | a path                                       |
 * | M72f | command | first word `./…` without shell's own signs    | that program                                 |
 * | M72g | command, query | any other                              | nothing: `not_checkable`                     |
 * | M72g | output  |                                               | nothing: `build_cache`                       |
 *
 * A path is tried as it stands, then without `#…`, then without `:12`, `:12:3` or `:12-20`.
 */
import { type Ref, refKinds } from "./model.js";

export type Lookup =
  | { readonly kind: "nothing"; readonly reason: string }
  /** The first of these that is there counts. */
  | { readonly kind: "path"; readonly candidates: readonly string[] }
  | { readonly kind: "project" | "target" | "program"; readonly path: string }
  | { readonly kind: "symbol"; readonly path: string; readonly word: string };

const nothing = (reason: string): Lookup => ({ kind: "nothing", reason });

const remote = /^[A-Za-z][A-Za-z0-9+.-]*:\/\//;
const foreign = /^[a-z]+:/;
const place = /:\d+(?::\d+|-\d+)?$/;
const dottedIdentifiers = /^[\p{ID_Start}_$][\p{ID_Continue}$]*(?:\.[\p{ID_Start}_$][\p{ID_Continue}$]*)*$/u;
/** A word of a command up to where a shell would end it. */
const programWord = /^\.\/[^\s;&|<>()]*/;
/** What a shell would make something else of. */
const shellSigns = /[$`"'\\*?[\]{}]/;

function lookupPath(path: string): Lookup {
  const withoutFragment = path.replace(/#.*$/s, "");
  const withoutPlace = withoutFragment.replace(place, "");
  const candidates = [...new Set([path, withoutFragment, withoutPlace])].filter(
    (candidate) => candidate !== "",
  );
  return candidates.length === 0 ? nothing("not_a_path") : { kind: "path", candidates };
}

function lookupSymbol(text: string): Lookup {
  const at = text.indexOf("#");
  const [path, name] = [text.slice(0, at), text.slice(at + 1)];
  const hasFileName = at > 0 && path.slice(path.lastIndexOf("/") + 1).includes(".");
  if (!hasFileName || !dottedIdentifiers.test(name)) return nothing("foreign_id");
  return { kind: "symbol", path, word: name.slice(name.lastIndexOf(".") + 1) };
}

function lookupNode(target: string): Lookup {
  const after = (prefix: string): string | undefined =>
    target.startsWith(prefix) ? target.slice(prefix.length) : undefined;
  const [file, project, build, symbol] = [
    after("file:"),
    after("project:"),
    after("target:"),
    after("symbol:"),
  ];
  if (remote.test(target)) return nothing("remote");
  if (file !== undefined) return lookupPath(file);
  if (project !== undefined)
    return project === "" ? nothing("not_a_path") : { kind: "project", path: project };
  if (symbol !== undefined) return lookupSymbol(symbol);
  if (build !== undefined) {
    const [folder = ""] = build.split(":");
    return folder.includes("/") ? { kind: "target", path: folder } : nothing("needs_build_graph");
  }
  return foreign.test(target) ? nothing("foreign_id") : lookupPath(target);
}

function lookupCommand(target: string): Lookup {
  const [path = ""] = programWord.exec(target) ?? [];
  return path === "" || shellSigns.test(path) ? nothing("not_checkable") : { kind: "program", path };
}

/** What is looked up for a ref. */
export function lookupFromRef({ kind, target }: Pick<Ref, "kind" | "target">): Lookup {
  switch (kind) {
    case refKinds.doc:
      return remote.test(target) ? nothing("remote") : lookupPath(target);
    case refKinds.node:
      return lookupNode(target);
    case refKinds.command:
      return lookupCommand(target);
    case refKinds.output:
      return nothing("build_cache");
    case refKinds.query:
      return nothing("not_checkable");
  }
}

const drive = /^[A-Za-z]:[\\/]/;

/** With `/` between its parts, also where the system writes another sign. */
const withSlashes = (path: string): string => (drive.test(path) ? path.replaceAll("\\", "/") : path);

/**
 * The parts of a path below a root, `undefined` when it leads out or may (M73): a `..` anywhere, a `~` in
 * front, an absolute path that does not begin with the root's own.
 */
export function partsBelow(path: string, rootPath: string): readonly string[] | undefined {
  const root = withSlashes(rootPath).replace(/\/$/, "");
  const whole = withSlashes(path);
  const isAbsolute = whole.startsWith("/") || drive.test(path);
  if (isAbsolute && whole !== root && !whole.startsWith(`${root}/`)) return undefined;
  const parts = (isAbsolute ? whole.slice(root.length) : whole).split("/");
  if (parts.includes("..") || (!isAbsolute && path.startsWith("~"))) return undefined;
  return parts.filter((part) => part !== "" && part !== ".");
}
