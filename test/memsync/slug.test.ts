/** Slugs: the vectors T1 to T3 of sync.md, and what holds for every text. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { slugFrom } from "../../src/memsync/slug.js";

const fallback = "The Fallback!";

const vectors: readonly (readonly [vector: string, name: string, slug: string])[] = [
  ["T1", "User preferences", "user-preferences"],
  ["T1", "NOTES", "notes"],
  ["T1", "Notes 2 — Archive", "notes-2-archive"],
  ["T1", "(Notes)", "notes"],
  ["T1", "a--b", "a-b"],
  ["T1", "--a--", "a"],
  ["T1", "2026", "2026"],
  ["T2", "Ünïcode", "n-code"],
  ["T2", "\u0130x", "ix"],
  ["T2", "\u212ag", "kg"],
  ["T2", "a\u{1f600}b", "a-b"],
  ["T3", "", fallback],
  ["T3", "!!!", fallback],
  ["T3", "...", fallback],
  ["T3", "日本", fallback],
];

describe("a slug", () => {
  test.each(vectors)("(%s) of %j is %j", (_vector, name, slug) => {
    expect(slugFrom(name, fallback)).toBe(slug);
  });

  test("is words of a-z and 0-9 joined by single hyphens, whatever the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (name) => {
        expect(slugFrom(name, "fallback")).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*$/);
      }),
    );
  });

  test("of a slug is that slug", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (name) => {
        const once = slugFrom(name, "fallback");
        expect(slugFrom(once, "other")).toBe(once);
      }),
    );
  });

  test("keeps every ASCII letter and digit of the name, in order", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme-ascii" }), (name) => {
        const kept = name.replace(/[^A-Za-z0-9]/g, "").toLowerCase();
        expect(slugFrom(name, "").replaceAll("-", "")).toBe(kept);
      }),
    );
  });

  test("has no length limit", () => {
    expect(slugFrom("x".repeat(10_000), fallback)).toHaveLength(10_000);
  });
});
