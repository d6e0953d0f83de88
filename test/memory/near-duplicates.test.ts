/** Names that are probably meant to be one (memory.md M86, MV59). */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createNearDuplicates, isNearDuplicate } from "../../src/memory/near-duplicates.js";

describe("two names", () => {
  test.each([
    ["cache-key", "cachekey"],
    ["key-cache", "cache-key"],
    ["retry-budget", "retry-budgets"],
    ["retry-budget", "retry-budgte"],
    ["retry-budget", "retry-bugdet"],
    ["retry-budget", "rery-budget"],
    ["retry-budget", "retry-budges"],
    ["abcdefgh", "abcdefghi"],
    ["adr-0012-cache", "adr-0012-caches"],
  ])("%s and %s are near duplicates", (a, b) => {
    expect([isNearDuplicate(a, b), isNearDuplicate(b, a)]).toEqual([true, true]);
    expect(createNearDuplicates([a])(b)).toEqual([a]);
    expect(createNearDuplicates([b])(a)).toEqual([b]);
  });

  test.each([
    ["adr-0012", "adr-0013"],
    ["adr-0012", "adr-00123"],
    ["adr-0012", "adr-0021"],
    ["retry-v1", "retry-v2"],
    ["abcdefg", "abcdefgh"],
    ["cat", "cut"],
    ["retry-budget", "retry-badges"],
    ["retry-budget", "retry-budget"],
    ["cache-key", "cache-keys-all"],
    ["abcdefgh", "badcefgh"],
  ])("%s and %s are not", (a, b) => {
    expect([isNearDuplicate(a, b), isNearDuplicate(b, a)]).toEqual([false, false]);
    expect(createNearDuplicates([a])(b)).toEqual([]);
  });

  test("are found through the index exactly when they are compared to be near", () => {
    const word = fc.string({ unit: fc.constantFrom("a", "b", "-", "1"), minLength: 1, maxLength: 11 });
    const slug = word.filter((name) => /^[ab1]+(-[ab1]+)*$/.test(name));
    fc.assert(
      fc.property(fc.uniqueArray(slug, { maxLength: 12 }), slug, (names, name) => {
        const near = names.filter((other) => isNearDuplicate(name, other));
        expect(createNearDuplicates(names)(name).sort()).toEqual(near.sort());
      }),
    );
  });
});
