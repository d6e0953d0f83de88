/** Writing files of records: the bytes, their order and their digest, and that reading them gives the same. */
import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { entriesFromExtra, extraFromEntries, noExtra } from "../../src/memory/extra.js";
import {
  createFilesDigest,
  type FiledRecord,
  fileFromCursor,
  fileFromRecord,
  inPathOrder,
  placeFromPath,
  quoted,
  recordPath,
} from "../../src/memory/files-format.js";
import { readRecordFile } from "../../src/memory/files-read.js";
import { limits } from "../../src/memory/model.js";
import { anyJsonEntries, anySlug, storedRecord } from "./arbitrary.js";
import { decisionFields, largestFields } from "./records.js";

const record = (changes: Partial<FiledRecord> = {}): FiledRecord => ({
  name: "a",
  ...decisionFields(),
  createdMs: 1_700_000_000_000,
  updatedMs: 1_700_000_000_456,
  extra: noExtra,
  ...changes,
});

const textOf = (changes: Partial<FiledRecord>): string =>
  Buffer.from(fileFromRecord(record(changes)).content).toString("utf8");

describe("a record's file", () => {
  test("has its keys in order, then the empty line and the body", () => {
    const text = textOf({
      status: 'a "b"',
      references: ["b", "2026"],
      body: " two\nlines\u2003",
      extra: extraFromEntries([
        ["z", "1.10"],
        ["B", "[null]"],
        ["two words", "{}"],
        ["yes", "true"],
        ["\u00e9", '"x"'],
      ]),
    });
    expect(text.split("\n")).toEqual([
      "---",
      'name: "a"',
      "type: decision",
      'status: "a \\"b\\""',
      "refs:",
      "  - kind: node",
      '    target: "file:src/cache.ts"',
      "references:",
      '  - "b"',
      '  - "2026"',
      "created: 1700000000",
      "updated: 1700000000",
      "created_ms: 1700000000000",
      "updated_ms: 1700000000456",
      "B: [null]",
      '"two words": {}',
      '"yes": true',
      "z: 1.10",
      '"\u00e9": "x"',
      "---",
      "",
      " two",
      "lines\u2003",
      "",
    ]);
  });

  test("leaves out an empty status, references and body", () => {
    expect(textOf({})).toMatch(
      /^---\nname: "a"\ntype: decision\nrefs:\n(.*\n){2}created: \d+\nupdated: \d+\ncreated_ms: \d+\nupdated_ms: \d+\n---\n$/,
    );
  });

  test("escapes what YAML cannot print, and nothing else beyond JSON", () => {
    expect(quoted("\ufeff\ufffe\uffff\u007f\u009f")).toBe('"\\ufeff\\ufffe\\uffff\\u007f\\u009f"');
    expect(quoted('\u00a0\u2028\u{1f600}\u202e\t"\\')).toBe('"\u00a0\u2028\u{1f600}\u202e\\t\\"\\\\"');
  });

  test("writes a key too long for YAML's short form in its long form", () => {
    const extra = extraFromEntries([["k".repeat(2_000), "1"]]);
    expect(textOf({ extra })).toContain(`\n? ${"k".repeat(2_000)}\n: 1\n`);
  });

  test("can be imported however large the record is", () => {
    const control = "\u0001".repeat(limits.extraBytes - 1);
    const file = fileFromRecord(record({ ...largestFields, extra: extraFromEntries([[control, "1"]]) }));
    expect(file.content.length).toBeLessThan(limits.fileBytes);
    expect(readRecordFile(file)).toMatchObject({ kind: "record", fields: largestFields });
  });

  test("can be imported however many unknown keys it has", () => {
    const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    const keys = [...letters].flatMap((a) => [...letters].map((b) => `${a}${b}`));
    const many = keys.map((key) => [key, "1"] as const);
    const list = ["list", `[${"1,".repeat(3_900)}1]`] as const;
    const file = fileFromRecord(record({ ...largestFields, extra: extraFromEntries([...many, list]) }));
    expect(readRecordFile(file)).toMatchObject({ kind: "record", extra: extraFromEntries([...many, list]) });
  });
});

test("what is written of a record reads as the same record, and is written as the same bytes", () => {
  const property = fc.property(storedRecord, anyJsonEntries, (stored, entries) => {
    const before = { ...stored, extra: extraFromEntries(entries) };
    const file = fileFromRecord(before);
    const read = readRecordFile(file);
    if (read.kind !== "record") expect.fail(JSON.stringify(read));
    const { type, refs, status, body, references, createdMs, updatedMs, extra, name } = before;
    expect(read).toEqual({
      kind: "record",
      name,
      fields: { type, refs, status, body, references },
      extra,
      createdMs,
      updatedMs,
    });
    const { fields, ...facts } = read;
    expect(fileFromRecord({ ...fields, ...facts, createdMs, updatedMs }).content).toEqual(file.content);
  });
  fc.assert(property, { numRuns: 300 });
});

test("unknown keys are the same text for the same keys, whatever their order", () => {
  fc.assert(
    fc.property(anyJsonEntries, (entries) => {
      const extra = extraFromEntries(entries);
      expect(extraFromEntries([...entries].reverse())).toBe(extra);
      expect(extraFromEntries(entriesFromExtra(extra))).toBe(extra);
    }),
  );
});

describe("the files of an export", () => {
  test("stand in the byte order of their paths, which is not that of the names", () => {
    const names = ["a", "a-b", "a-b-c", "a-c", "a0", "ab", "b", "b-1"];
    expect([...inPathOrder(names, (name) => name)]).toEqual([
      ...["a-b-c", "a-b", "a-c", "a", "a0", "ab", "b-1", "b"],
    ]);
    fc.assert(
      fc.property(fc.uniqueArray(anySlug), (slugs) => {
        const paths = [...inPathOrder(slugs.toSorted(), (name) => name)].map(recordPath);
        expect(paths).toEqual(slugs.map(recordPath).toSorted());
      }),
    );
  });

  test("have a digest over path, size and bytes of each", () => {
    const digest = createFilesDigest();
    digest.add(fileFromCursor("\u00e9"));
    digest.add({ path: "records/a.md", content: Buffer.from("x") });
    const expected = createHash("sha256")
      .update("cursor.md\x002\x00\u00e9records/a.md\x001\x00x")
      .digest("hex");
    expect(digest.hex()).toBe(expected);
  });

  test("have paths that an import takes", () => {
    fc.assert(
      fc.property(anySlug, (name) => {
        expect(placeFromPath(recordPath(name))).toEqual({ kind: "record", name });
      }),
    );
    expect(placeFromPath(recordPath("cursor"))).toEqual({ kind: "record", name: "cursor" });
    expect(placeFromPath(fileFromCursor("").path)).toEqual({ kind: "cursor" });
  });
});
