/** What looking a ref up means (memory.md M72), and which paths stay below a root (M73): the tables, case by case. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type RefKind, refKinds } from "../../src/memory/model.js";
import { lookupFromRef, partsBelow } from "../../src/memory/refs-target.js";

const { doc, node, output, command, query } = refKinds;

describe("a ref is looked up", () => {
  test.each<[RefKind, string, readonly string[]]>([
    [doc, "docs/a.md", ["docs/a.md"]],
    [doc, "docs/a.md#part-two", ["docs/a.md#part-two", "docs/a.md"]],
    [doc, "file:a.md", ["file:a.md"]],
    [doc, "#part", ["#part"]],
    [node, "src/a.ts", ["src/a.ts"]],
    [node, "file:src/a.ts", ["src/a.ts"]],
    [node, "src/a.ts:12", ["src/a.ts:12", "src/a.ts"]],
    [node, "src/a.ts:12:3", ["src/a.ts:12:3", "src/a.ts"]],
    [node, "file:src/a.ts:12-20", ["src/a.ts:12-20", "src/a.ts"]],
    [node, "src/a.ts#L3-L9", ["src/a.ts#L3-L9", "src/a.ts"]],
    [node, "src/a.ts:12#L3", ["src/a.ts:12#L3", "src/a.ts:12", "src/a.ts"]],
    [node, "src/a.ts:12a", ["src/a.ts:12a"]],
    [node, "a b/c d.md", ["a b/c d.md"]],
  ])("as a path: kind %i, %s", (kind, target, candidates) => {
    expect(lookupFromRef({ kind, target })).toEqual({ kind: "path", candidates });
  });

  test.each<[RefKind, string, object]>([
    [node, "project:magus", { kind: "project", path: "magus" }],
    [node, "project:apps/web", { kind: "project", path: "apps/web" }],
    [node, "target:apps/web:build", { kind: "target", path: "apps/web" }],
    [node, "target:apps/web:test:unit", { kind: "target", path: "apps/web" }],
    [node, "symbol:src/a.ts#Store.put", { kind: "symbol", path: "src/a.ts", word: "put" }],
    [node, "symbol:a.ts#größe", { kind: "symbol", path: "a.ts", word: "größe" }],
    [command, "./run.sh -x", { kind: "program", path: "./run.sh" }],
    [command, "./run.sh;rm -rf x", { kind: "program", path: "./run.sh" }],
    [command, "./run.sh&&x", { kind: "program", path: "./run.sh" }],
  ])("by what it says it is: kind %i, %s", (kind, target, lookup) => {
    expect(lookupFromRef({ kind, target })).toEqual(lookup);
  });

  test.each<[RefKind, string, string]>([
    [doc, "https://example.org/a", "remote"],
    [doc, "file:///etc/passwd", "remote"],
    [node, "git+ssh://host/x", "remote"],
    [node, "crate:serde", "foreign_id"],
    [node, "file:", "not_a_path"],
    [node, "project:", "not_a_path"],
    [node, "target:web:build", "needs_build_graph"],
    [node, "target:web", "needs_build_graph"],
    [node, "symbol:m x/Store#Put().", "foreign_id"],
    [node, "symbol:src/store#Put", "foreign_id"],
    [node, "symbol:src/a.ts", "foreign_id"],
    [node, "symbol:src/a.ts#", "foreign_id"],
    [node, "symbol:src/a.ts#a..b", "foreign_id"],
    [command, "touch /tmp/p", "not_checkable"],
    [command, "$(touch p)", "not_checkable"],
    [command, "./$(touch p)", "not_checkable"],
    [command, "./`id`.sh", "not_checkable"],
    [command, "../up.sh", "not_checkable"],
    [command, "sh ./run.sh", "not_checkable"],
    [output, "dist/app.js", "build_cache"],
    [query, "where is it", "not_checkable"],
  ])("not at all: kind %i, %s", (kind, target, reason) => {
    expect(lookupFromRef({ kind, target })).toEqual({ kind: "nothing", reason });
  });

  test("in some way, whatever its target", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.values(refKinds)),
        fc.string({ unit: "binary" }),
        (kind, target) => {
          expect(lookupFromRef({ kind, target })).toHaveProperty("kind");
        },
      ),
    );
  });
});

describe("a path below a root", () => {
  test.each<[string, string, readonly string[]]>([
    ["src/a.ts", "/r", ["src", "a.ts"]],
    ["./src//a.ts/", "/r", ["src", "a.ts"]],
    [".", "/r", []],
    ["/r/src/a.ts", "/r", ["src", "a.ts"]],
    ["/r", "/r", []],
    ["a~", "/r", ["a~"]],
    ["..a/b..", "/r", ["..a", "b.."]],
    ["C:\\r\\src\\a.ts", "C:\\r", ["src", "a.ts"]],
  ])("%s in %s has these parts", (path, root, parts) => {
    expect(partsBelow(path, root)).toEqual(parts);
  });

  test.each([
    ["../x", "/r"],
    ["a/../b", "/r"],
    ["a/..", "/r"],
    ["/etc/passwd", "/r"],
    ["/rr/a", "/r"],
    ["/r/../etc/passwd", "/r"],
    ["~/.ssh/id", "/r"],
    ["~", "/r"],
    ["~ben/x", "/r"],
    ["D:\\x", "C:\\r"],
    ["C:/r/..\\x", "C:\\r"],
  ])("%s does not stay in %s", (path, root) => {
    expect(partsBelow(path, root)).toBeUndefined();
  });

  test("has no part that leads up, whatever the path", () => {
    const part = fc.oneof(fc.constantFrom("..", ".", "", "~", "a"), fc.string());
    fc.assert(
      fc.property(fc.array(part), fc.boolean(), (parts, isAbsolute) => {
        const path = `${isAbsolute ? "/" : ""}${parts.join("/")}`;
        const below = partsBelow(path, "/r");
        for (const name of below ?? []) expect(["..", ".", ""]).not.toContain(name);
      }),
    );
  });
});
