/**
 * What a ref points at as one text, and which refs a search for a path means (memory.md M65). Pure.
 *
 * | asked                  | finds refs                                                                    |
 * | ---------------------- | ----------------------------------------------------------------------------- |
 * | `src/a.ts`             | to that path, also with `#…` or `:12` after it, and to symbols in it          |
 * | `src/a.ts:12`, `file:src/a.ts`, `symbol:src/a.ts#put` | whose target is just that (`file:` aside) |
 * | `src/`                 | to whatever is below that folder                                              |
 *
 * A ref that is no path, such as a query or an address, is known by its target as it stands.
 */
import { type Ref, refKinds } from "./model.js";
import { lookupFromRef } from "./refs-target.js";

const isRemote = (text: string): boolean => /^[A-Za-z][A-Za-z0-9+.-]*:\/\//.test(text);

/** Without `./` in front, doubled slashes and a slash at the end. */
const tidied = (path: string): string =>
  isRemote(path)
    ? path
    : path
        .replace(/\/{2,}/g, "/")
        .replace(/^(?:\.\/)+/, "")
        .replace(/(?<=.)\/$/, "");

/** The path of a ref without the place in its file. */
export function pathFromRef(ref: Pick<Ref, "kind" | "target">): string {
  const lookup = lookupFromRef(ref);
  if (lookup.kind === "nothing") return ref.target;
  return tidied(lookup.kind === "path" ? (lookup.candidates.at(-1) ?? ref.target) : lookup.path);
}

export type TargetFilter =
  /** The paths from one text up to and without another, in byte order. */
  | { readonly kind: "below"; readonly from: string; readonly to: string }
  /** That path, and where `targets` are given one of these targets. */
  | { readonly kind: "is"; readonly path: string; readonly targets: readonly string[] | undefined };

const charAfterSlash = "0";
const lastCodePoint = "\u{10ffff}";

/** What a search for a path, or for a folder with a slash at its end, means. */
export function targetFilterFrom(asked: string): TargetFilter {
  if (asked.endsWith("/")) {
    const folder = asked.replace(/\/+$/, "");
    const from = folder === "" ? "/" : `${tidied(folder)}/`;
    if (from === "./") return { kind: "below", from: "", to: lastCodePoint };
    return { kind: "below", from, to: `${from.slice(0, -1)}${charAfterSlash}` };
  }
  const path = pathFromRef({ kind: refKinds.node, target: asked });
  const isPath = path === tidied(asked);
  return { kind: "is", path, targets: isPath ? undefined : [asked, `file:${asked}`] };
}
