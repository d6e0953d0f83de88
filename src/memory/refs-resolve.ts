/**
 * How a ref fares (memory.md M72–M74): from what its lookup sees to a state and a reason. The states tell
 * what is known; where looking is not enough the answer is unchecked, because a guess would be served as fact.
 *
 * | lookup  | sees                       | state                                                        |
 * | ------- | -------------------------- | ------------------------------------------------------------ |
 * | path    | file, no baseline          | resolved `no_baseline`                                       |
 * |         | file, equal to its baseline| resolved                                                     |
 * |         | file, not equal            | drifted `content_differs`                                    |
 * |         | file where a folder was, folder where a file was | drifted `type_changed`                 |
 * |         | folder                     | resolved                                                     |
 * | project | folder                     | resolved                                                     |
 * |         | file                       | drifted `type_changed`                                       |
 * |         | nothing                    | dangling if it is a path, else unchecked `not_a_path`        |
 * | target  | nothing                    | dangling, else unchecked `needs_build_graph`                 |
 * | symbol  | file with the word, without| resolved, dangling `symbol_not_found`; never drifted         |
 * | program | file, anything else        | resolved, dangling                                           |
 * | any     | nothing                    | dangling `not_found`                                         |
 * | any     | outside, unreadable, …     | unchecked with that reason                                   |
 *
 * A large file has a baseline without a digest, and then its size alone is compared (M76).
 */
import type { Ref, RefBaseline, StoredRecord } from "./model.js";
import { type Lookup, lookupFromRef, partsBelow } from "./refs-target.js";
import type { Sees, Sight, Wanted } from "./tree.js";

/** Numbers are those of `memoryd.records.v1.RefState`. */
export const refStates = { resolved: 1, drifted: 2, dangling: 3, unchecked: 4 } as const;
export type RefState = (typeof refStates)[keyof typeof refStates];

/** What looking a ref up has shown; the reason is a lower-case word, empty where the state says all. */
export type RefFinding = { readonly state: RefState; readonly reason: string };

/** One ref of a record, looked up. */
export type RefCheck = RefFinding & {
  /** Which ref, from 0. */
  readonly index: number;
  readonly checkedMs: number;
};

/** A record with how its refs fare, when they were looked up. */
export type CheckedRecord = StoredRecord & { readonly refChecks?: readonly RefCheck[] };

export const resolved = (reason = ""): RefFinding => ({ state: refStates.resolved, reason });
const drifted = (reason: string): RefFinding => ({ state: refStates.drifted, reason });
const dangling = (reason = "not_found"): RefFinding => ({ state: refStates.dangling, reason });
export const unchecked = (reason: string): RefFinding => ({ state: refStates.unchecked, reason });

/** The size that stands for a folder in a baseline. */
const folderBytes = -1;

const outside: Sight = { kind: "outside" };

/** What stands at a path; a NUL, which only a damaged row holds, names nothing that could be looked at. */
async function seen(path: string, rootPath: string, wanted: Wanted, sees: Sees): Promise<Sight> {
  const parts = partsBelow(path, rootPath);
  if (parts === undefined) return outside;
  return path.includes("\0") ? { kind: "nothing" } : sees(parts, wanted);
}

/** What stands at the first of the paths where anything does. */
async function firstSeen(
  candidates: readonly string[],
  rootPath: string,
  wanted: Wanted,
  sees: Sees,
): Promise<Sight> {
  let sight: Sight = { kind: "nothing" };
  for (const path of candidates) {
    sight = await seen(path, rootPath, wanted, sees);
    if (sight.kind !== "nothing") break;
  }
  return sight;
}

/** What holds for every lookup, and the rest from `of`. */
function findingFrom(
  sight: Sight,
  of: (sight: Extract<Sight, { readonly kind: "file" | "folder" }>) => RefFinding,
  absent = dangling(),
): RefFinding {
  switch (sight.kind) {
    case "file":
    case "folder":
      return of(sight);
    case "nothing":
      return absent;
    case "outside":
      return unchecked("outside_root");
    default:
      return unchecked(sight.kind);
  }
}

function compared(
  sight: Extract<Sight, { readonly kind: "file" | "folder" }>,
  baseline: RefBaseline | undefined,
): RefFinding {
  const wasFolder = baseline?.bytes === folderBytes;
  if (sight.kind === "folder")
    return baseline === undefined || wasFolder ? resolved() : drifted("type_changed");
  if (baseline === undefined) return resolved("no_baseline");
  if (wasFolder) return drifted("type_changed");
  const isSameSize = sight.bytes === baseline.bytes;
  const isSameText = baseline.sha256 === undefined || baseline.sha256 === sight.sha256;
  return isSameSize && isSameText ? resolved() : drifted("content_differs");
}

/** What must be known of a file to compare it with its baseline, and no more. */
function wantedFor(baseline: RefBaseline | undefined): Wanted {
  return baseline?.sha256 === undefined
    ? { kind: "presence" }
    : { kind: "digest", onlyIfBytes: baseline.bytes };
}

type Found = Extract<Lookup, { readonly path: string }>;

async function resolveFound(lookup: Found, rootPath: string, sees: Sees): Promise<RefFinding> {
  const look = (wanted: Wanted): Promise<Sight> => seen(lookup.path, rootPath, wanted, sees);
  const isFolder = (sight: Sight): boolean => sight.kind === "folder";
  switch (lookup.kind) {
    case "project": {
      const absent = lookup.path.includes("/") ? dangling() : unchecked("not_a_path");
      const of = (sight: Sight): RefFinding => (isFolder(sight) ? resolved() : drifted("type_changed"));
      return findingFrom(await look({ kind: "presence" }), of, absent);
    }
    case "target":
      return findingFrom(await look({ kind: "presence" }), () => unchecked("needs_build_graph"));
    case "program":
      return findingFrom(await look({ kind: "presence" }), (sight) =>
        isFolder(sight) ? dangling() : resolved(),
      );
    case "symbol":
      return findingFrom(await look({ kind: "word", word: lookup.word }), (sight) => {
        if (sight.kind === "folder") return dangling();
        return sight.hasWord === true ? resolved() : dangling("symbol_not_found");
      });
  }
}

/** How the ref fares below a root that is there. */
export async function resolveRef(ref: Ref, rootPath: string, sees: Sees): Promise<RefFinding> {
  const lookup = lookupFromRef(ref);
  if (lookup.kind === "nothing") return unchecked(lookup.reason);
  if (lookup.kind !== "path") return resolveFound(lookup, rootPath, sees);
  const sight = await firstSeen(lookup.candidates, rootPath, wantedFor(ref.baseline), sees);
  return findingFrom(sight, (there) => compared(there, ref.baseline));
}

/** What a write notes of the file or folder that a ref names (M74); `undefined` when it sees neither. */
export async function baselineFromRef(
  ref: Pick<Ref, "kind" | "target">,
  rootPath: string,
  sees: Sees,
): Promise<RefBaseline | undefined> {
  const lookup = lookupFromRef(ref);
  if (lookup.kind !== "path") return undefined;
  const sight = await firstSeen(lookup.candidates, rootPath, { kind: "digest" }, sees);
  if (sight.kind === "folder") return { bytes: folderBytes, sha256: undefined };
  return sight.kind === "file" ? { bytes: sight.bytes, sha256: sight.sha256 } : undefined;
}
