/** Which existing names a misspelt one may have meant (memory.md M20e): names are slugs, so safe to show. */
import { distance } from "fastest-levenshtein";
import { compareUtf8 } from "../kernel/utf8.js";

/** Most edits (inserted, dropped or replaced characters) between a name and one that is shown for it. */
export const nearestEdits = 2;
const nearestCount = 3;

/** At most three of `names` within two edits of `name`, nearest first, then in byte order. */
export function nearestNames(name: string, names: readonly string[]): string[] {
  return names
    .map((candidate) => ({ candidate, edits: distance(name, candidate) }))
    .filter(({ edits }) => edits <= nearestEdits)
    .sort((a, b) => a.edits - b.edits || compareUtf8(a.candidate, b.candidate))
    .slice(0, nearestCount)
    .map(({ candidate }) => candidate);
}
