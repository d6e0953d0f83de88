/** Names that may have been meant (memory.md M20e), against a distance counted the slow way. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { nearestNames } from "../../src/memory/nearest.js";

/** Inserted, dropped or replaced characters between two texts, by the definition. */
function edits(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

const nearName = fc.string({ unit: fc.constantFrom("a", "b", "-"), minLength: 1, maxLength: 7 });

test("at most three names within two edits are shown, the nearest first, then in order", () => {
  fc.assert(
    fc.property(nearName, fc.uniqueArray(nearName, { maxLength: 20 }), (name, names) => {
      const expected = names
        .filter((candidate) => edits(name, candidate) <= 2)
        .sort((a, b) => edits(name, a) - edits(name, b) || Buffer.compare(Buffer.from(a), Buffer.from(b)))
        .slice(0, 3);
      expect(nearestNames(name, names)).toEqual(expected);
    }),
    { numRuns: 500 },
  );
});

test("nothing is shown when nothing is near", () => {
  expect(nearestNames("cache-key-plan", ["session", "cache"])).toEqual([]);
  expect(nearestNames("a", [])).toEqual([]);
});
