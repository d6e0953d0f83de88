/** How a ref fares (memory.md M72–M74): the table of states, over trees that are written down beside each case. */
import { describe, expect, test } from "vitest";
import { type Ref, type RefBaseline, refKinds } from "../../src/memory/model.js";
import { baselineFromRef, refStates, resolveRef } from "../../src/memory/refs-resolve.js";
import type { Sees, Sight, Wanted } from "../../src/memory/tree.js";

const { doc, node, output, command, query } = refKinds;
const root = "/r";

/** A tree as its places say; what is not there is nothing. */
function treeOf(places: Readonly<Record<string, Sight>>) {
  const asked: [string, Wanted][] = [];
  const sees: Sees = async (parts, wanted) => {
    asked.push([parts.join("/"), wanted]);
    return places[parts.join("/")] ?? { kind: "nothing" };
  };
  return { sees, asked };
}

const text: Sight = { kind: "file", bytes: 4, sha256: "aa" };
const huge: Sight = { kind: "file", bytes: 9_000_000 };
const folder: Sight = { kind: "folder" };
const same: RefBaseline = { bytes: 4, sha256: "aa" };
const wasFolder: RefBaseline = { bytes: -1, sha256: undefined };

type Case = readonly [
  what: string,
  ref: readonly [Ref["kind"], string, RefBaseline?],
  places: Readonly<Record<string, Sight>>,
  state: keyof typeof refStates,
  reason: string,
];

const refOf = ([kind, target, baseline]: Case[1]): Ref => ({
  kind,
  target,
  ...(baseline === undefined ? {} : { baseline }),
});

describe("a ref", () => {
  test.each<Case>([
    ["to a file as it was", [doc, "a", same], { a: text }, "resolved", ""],
    ["to a file that nobody saw", [doc, "a"], { a: text }, "resolved", "no_baseline"],
    [
      "to a file of another size",
      [doc, "a", { ...same, bytes: 5 }],
      { a: text },
      "drifted",
      "content_differs",
    ],
    [
      "to a file with other bytes",
      [doc, "a", { ...same, sha256: "bb" }],
      { a: text },
      "drifted",
      "content_differs",
    ],
    [
      "to a huge file of that size",
      [doc, "a", { bytes: 9_000_000, sha256: undefined }],
      { a: huge },
      "resolved",
      "",
    ],
    [
      "to a huge file of another",
      [doc, "a", { bytes: 9_000_001, sha256: undefined }],
      { a: huge },
      "drifted",
      "content_differs",
    ],
    ["to a file that grew huge", [doc, "a", same], { a: huge }, "drifted", "content_differs"],
    ["to a folder", [doc, "a"], { a: folder }, "resolved", ""],
    ["to a folder that was one", [doc, "a", wasFolder], { a: folder }, "resolved", ""],
    ["to a folder that was a file", [doc, "a", same], { a: folder }, "drifted", "type_changed"],
    ["to a file that was a folder", [doc, "a", wasFolder], { a: text }, "drifted", "type_changed"],
    ["to nothing", [doc, "a", same], {}, "dangling", "not_found"],
    ["to a line of a file", [node, "a.ts:12", same], { "a.ts": text }, "resolved", ""],
    ["to lines of a file", [node, "file:a.ts#L3-L9", same], { "a.ts": text }, "resolved", ""],
    ["to a file that is really named so", [doc, "a#b", same], { "a#b": text, a: folder }, "resolved", ""],
    ["out of the root", [doc, "../a"], { a: text }, "unchecked", "outside_root"],
    ["to a link that leads out", [doc, "a"], { a: { kind: "outside" } }, "unchecked", "outside_root"],
    ["to what may not be read", [doc, "a"], { a: { kind: "unreadable" } }, "unchecked", "unreadable"],
    ["to a pipe", [doc, "a"], { a: { kind: "not_regular" } }, "unchecked", "not_regular"],
    ["after the budget", [doc, "a"], { a: { kind: "budget" } }, "unchecked", "budget"],
    ["that a damaged row holds", [doc, "a\0b"], { "a\0b": text }, "dangling", "not_found"],
    ["to another machine", [doc, "https://example.org"], {}, "unchecked", "remote"],
    ["to something of another tool", [node, "crate:serde"], {}, "unchecked", "foreign_id"],
    ["to a project", [node, "project:apps/web"], { "apps/web": folder }, "resolved", ""],
    [
      "to a project that is a file",
      [node, "project:apps/web"],
      { "apps/web": text },
      "drifted",
      "type_changed",
    ],
    ["to a project that is gone", [node, "project:apps/web"], {}, "dangling", "not_found"],
    ["to a project's name", [node, "project:web"], {}, "unchecked", "not_a_path"],
    ["to a project outside", [node, "project:../web"], {}, "unchecked", "outside_root"],
    [
      "to a target",
      [node, "target:apps/web:build"],
      { "apps/web": folder },
      "unchecked",
      "needs_build_graph",
    ],
    ["to a target that is gone", [node, "target:apps/web:build"], {}, "dangling", "not_found"],
    [
      "to a symbol",
      [node, "symbol:a.ts#A.b"],
      { "a.ts": { kind: "file", bytes: 1, hasWord: true } },
      "resolved",
      "",
    ],
    [
      "to a symbol that is gone",
      [node, "symbol:a.ts#A.b"],
      { "a.ts": { kind: "file", bytes: 1, hasWord: false } },
      "dangling",
      "symbol_not_found",
    ],
    ["to a symbol without its file", [node, "symbol:a.ts#A.b"], {}, "dangling", "not_found"],
    ["to a symbol of a folder", [node, "symbol:a.ts#A.b"], { "a.ts": folder }, "dangling", "not_found"],
    [
      "to a symbol of a huge file",
      [node, "symbol:a.ts#A.b"],
      { "a.ts": { kind: "too_large" } },
      "unchecked",
      "too_large",
    ],
    ["to a program", [command, "./run.sh -x", { ...same, bytes: 9 }], { "run.sh": text }, "resolved", ""],
    ["to a program that is gone", [command, "./gone.sh -x"], {}, "dangling", "not_found"],
    ["to a program that is a folder", [command, "./run.sh"], { "run.sh": folder }, "dangling", "not_found"],
    ["to a command", [command, "touch /tmp/p"], {}, "unchecked", "not_checkable"],
    ["to an output", [output, "dist/a.js"], { "dist/a.js": text }, "unchecked", "build_cache"],
    ["to a query", [query, "where"], {}, "unchecked", "not_checkable"],
  ])("%s", async (_what, ref, places, state, reason) => {
    expect(await resolveRef(refOf(ref), root, treeOf(places).sees)).toEqual({
      state: refStates[state],
      reason,
    });
  });

  test("asks for a digest only where one can be compared", async () => {
    const wanted = async (baseline?: RefBaseline) => {
      const { sees, asked } = treeOf({ a: text });
      await resolveRef(
        { kind: doc, target: "a", ...(baseline === undefined ? {} : { baseline }) },
        root,
        sees,
      );
      return asked;
    };
    expect(await wanted()).toEqual([["a", { kind: "presence" }]]);
    expect(await wanted(wasFolder)).toEqual([["a", { kind: "presence" }]]);
    expect(await wanted(same)).toEqual([["a", { kind: "digest", onlyIfBytes: 4 }]]);
  });
});

describe("the baseline of a ref", () => {
  test.each<readonly [string, Ref["kind"], string, Readonly<Record<string, Sight>>, RefBaseline | undefined]>(
    [
      ["a file", doc, "a", { a: text }, same],
      ["a line of a file", node, "file:a.ts:3", { "a.ts": text }, same],
      ["a huge file", doc, "a", { a: huge }, { bytes: 9_000_000, sha256: undefined }],
      ["a folder", doc, "a", { a: folder }, wasFolder],
      ["nothing", doc, "a", {}, undefined],
      ["what may not be read", doc, "a", { a: { kind: "unreadable" } }, undefined],
      ["what is outside", doc, "../a", { a: text }, undefined],
      ["what the budget left over", doc, "a", { a: { kind: "budget" } }, undefined],
      ["a symbol, which never drifts", node, "symbol:a.ts#a", { "a.ts": text }, undefined],
      ["a program, which never drifts", command, "./a", { a: text }, undefined],
      ["another machine", doc, "https://example.org", {}, undefined],
    ],
  )("of %s", async (_what, kind, target, places, baseline) => {
    expect(await baselineFromRef({ kind, target }, root, treeOf(places).sees)).toEqual(baseline);
  });
});
