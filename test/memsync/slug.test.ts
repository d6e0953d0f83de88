/** Slugs: the vectors T1 to T3 of sync.md, and what holds for every text. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { slug } from "../../src/memsync/slug.js";
import { verifies } from "../support/verifies.js";

const fallback = "The Fallback!";
const anyText = fc.string({ unit: "binary" });

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
  test.each(vectors)("(%s) of %j is %j", (_vector, name, expected) => {
    expect(slug(name, fallback)).toBe(expected);
  });

  verifies("memsync.slug.lowercase", "is the name in lower case", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9]+$/), (name) => {
        expect(slug(name, fallback)).toBe(name.toLowerCase());
      }),
    );
  });

  verifies("memsync.slug.runs-become-one-hyphen", "has one hyphen for each run of other characters", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[^A-Za-z0-9\u0130\u212a]+$/u), (run) => {
        expect(slug(`one${run}two`, fallback)).toBe("one-two");
      }),
    );
  });

  verifies("memsync.slug.hyphens-trimmed", "neither begins nor ends with a hyphen, whatever the text", () => {
    expect(slug("(Notes)", fallback)).toBe("notes");
    fc.assert(
      fc.property(anyText, (name) => {
        expect(slug(name, "fallback")).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*$/);
      }),
    );
  });

  verifies(
    "memsync.slug.ascii-only",
    "keeps of another script what is ASCII in it, and that in order",
    () => {
      expect(slug("日本 Tokyo 2026", fallback)).toBe("tokyo-2026");
      fc.assert(
        fc.property(anyText, (name) => {
          const kept = name
            .replaceAll("\u0130", "i")
            .replaceAll("\u212a", "k")
            .replace(/[^A-Za-z0-9]/g, "");
          expect(slug(name, "").replaceAll("-", "")).toBe(kept.toLowerCase());
        }),
      );
    },
  );

  verifies(
    "memsync.slug.fallback",
    "of a name of which nothing is left is the fallback as it was given",
    () => {
      fc.assert(
        fc.property(fc.stringMatching(/^[^A-Za-z0-9\u0130\u212a]*$/u), anyText, (name, other) => {
          expect(slug(name, other)).toBe(other);
        }),
      );
    },
  );

  test("of a slug is that slug", () => {
    fc.assert(
      fc.property(anyText, (name) => {
        const once = slug(name, "fallback");
        expect(slug(once, "other")).toBe(once);
      }),
    );
  });

  test("has no length limit", () => {
    expect(slug("x".repeat(10_000), fallback)).toHaveLength(10_000);
  });
});
