/** What a ref points at as one text (memory.md M65). What a search for a path finds is `search.json`. */
import { describe, expect, test } from "vitest";
import { refKinds } from "../../src/memory/model.js";
import { pathFromRef, targetFilterFrom } from "../../src/memory/refs-path.js";

const { node, doc, command, query, output } = refKinds;

describe("the path of a ref", () => {
  test.each([
    [node, "file:src/a.ts", "src/a.ts"],
    [node, "src/a.ts:12", "src/a.ts"],
    [node, "file:src/a.ts#L3-L9", "src/a.ts"],
    [doc, "./docs//a.md:12-20", "docs/a.md"],
    [doc, "docs/", "docs"],
    [doc, "/", "/"],
    [node, "project:apps/web/", "apps/web"],
    [node, "target:apps/web:build", "apps/web"],
    [node, "symbol:src/a.ts#Store.put", "src/a.ts"],
    [command, "./scripts/go.sh -x", "scripts/go.sh"],
  ])("of kind %i to %s is %s", (kind, target, path) => {
    expect(pathFromRef({ kind, target })).toBe(path);
  });

  test.each([
    [doc, "https://example.org//a/"],
    [node, "goal:ship"],
    [node, "target:web:build"],
    [query, "deps(//a)"],
    [output, "out:4f/"],
    [command, "npm test"],
  ])("that is none is its target: %i %s", (kind, target) => {
    expect(pathFromRef({ kind, target })).toBe(target);
  });
});

describe("a search for", () => {
  test.each([
    ["src/", "src/", "src0"],
    ["./src//", "src/", "src0"],
    ["/", "/", "0"],
    ["https://example.org/", "https://example.org/", "https://example.org0"],
  ])("the folder %s goes from %s to %s", (asked, from, to) => {
    expect(targetFilterFrom(asked)).toEqual({ kind: "below", from, to });
  });

  test("the root's own folder means every path", () => {
    expect(targetFilterFrom("./")).toEqual({ kind: "below", from: "", to: "\u{10ffff}" });
  });

  test("a path means that path, and with a place or a prefix just that target", () => {
    expect(targetFilterFrom("./src/a.ts")).toEqual({ kind: "is", path: "src/a.ts", targets: undefined });
    const targets = ["src/a.ts:12", "file:src/a.ts:12"];
    expect(targetFilterFrom("src/a.ts:12")).toEqual({ kind: "is", path: "src/a.ts", targets });
  });
});
