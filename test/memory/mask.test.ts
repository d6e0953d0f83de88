/** Masks (memory.md M20b, M21, M22) against the rule said plainly. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { isMemorydError } from "../../src/kernel/errors.js";
import { maskFromPaths } from "../../src/memory/mask.js";

const settable = ["type", "refs", "status", "body", "references"];
const ignored = ["name", "create_time", "update_time"];

/** What the paths mean, in the words of the table. */
function meaningOf(paths: readonly string[]): unknown {
  if (paths.length === 0) return "everything";
  if (paths.length === 1 && paths[0] === "*") return "everything";
  if (paths.length > 64) return "refused";
  const known = paths.every((path) => settable.includes(path) || ignored.includes(path));
  return known ? new Set(paths.filter((path) => settable.includes(path))) : "refused";
}

function readingOf(paths: readonly string[]): unknown {
  try {
    const mask = maskFromPaths(paths);
    if (mask.kind === "full") return "everything";
    expect(new Set(mask.fields).size).toBe(mask.fields.length);
    return new Set(mask.fields);
  } catch (error) {
    expect(isMemorydError(error) && [error.code, error.reason]).toEqual(["invalid_argument", "INVALID_MASK"]);
    return "refused";
  }
}

const legalPath = fc.constantFrom(...settable, ...ignored);
const anyPath = fc.oneof(
  { weight: 6, arbitrary: legalPath },
  fc.constantFrom("*", "", "refs.target", "createTime", "memory.status", "Status", "excerpt"),
  fc.string(),
);

test("a mask means what the rule says", () => {
  const check = (paths: readonly string[]): void => {
    expect(readingOf(paths)).toEqual(meaningOf(paths));
  };
  fc.assert(fc.property(fc.array(anyPath, { maxLength: 6 }), check), { numRuns: 500 });
  fc.assert(fc.property(fc.array(legalPath, { minLength: 60, maxLength: 70 }), check));
});

test("the order of the paths does not matter", () => {
  fc.assert(
    fc.property(fc.array(legalPath, { minLength: 1, maxLength: 8 }), (paths) => {
      expect(maskFromPaths(paths)).toEqual(maskFromPaths(paths.toReversed()));
    }),
  );
});

test("a path is told by its place, never by its text", () => {
  fc.assert(
    fc.property(fc.array(legalPath, { maxLength: 5 }), fc.stringMatching(/^q[A-Z]{8,20}$/), (paths, odd) => {
      try {
        maskFromPaths([...paths, odd]);
        expect.fail("it was taken");
      } catch (error) {
        if (!isMemorydError(error)) throw error;
        expect(error.violations.map(({ field }) => field)).toEqual([`update_mask.paths[${paths.length}]`]);
        expect(JSON.stringify([error.message, error.violations])).not.toContain(odd);
      }
    }),
  );
});
