/** Reading files of records: what each spelling means, what is refused and why. */
import { describe, expect, test } from "vitest";
import { entriesFromExtra } from "../../src/memory/extra.js";
import { type ReadRecord, readRecordFile } from "../../src/memory/files-read.js";
import { parseYaml } from "../../src/memory/files-yaml.js";
import { limits } from "../../src/memory/model.js";
import { decisionFile, earlierTool, fileOf, refusedFiles, textOf } from "./files.js";

const recordOf = (content: string, path = "records/a.md"): ReadRecord => {
  const read = readRecordFile(fileOf(path, content));
  return read.kind === "record" ? read : expect.fail(JSON.stringify(read));
};

/** A record's file with these lines in its front matter. */
const withLines = (lines: string): string =>
  `---\ntype: plan\nrefs: [{kind: doc, target: x}]\n${lines}\n---\n`;

const isoOf = (atMs: number | undefined): string | null =>
  atMs === undefined ? null : new Date(atMs).toISOString();

describe("a directory of an earlier tool", () => {
  test("MV65 says what its files spell", () => {
    const read = Object.entries(earlierTool.files)
      .map(([path, content]) => readRecordFile(fileOf(path, content)))
      .flatMap((file) => (file.kind === "record" ? [file] : []))
      .map(({ name, fields, createdMs, updatedMs }) => ({
        name,
        ...fields,
        refs: fields.refs.map(({ kind, target }) => [kind, target]),
        created: isoOf(createdMs),
        updated: isoOf(updatedMs),
      }));
    expect(read.sort((a, b) => (a.name < b.name ? -1 : 1))).toEqual(earlierTool.says);
  });
});

describe("MV66 an import refuses", () => {
  test.each(refusedFiles)("$title", ({ path, content, reason, says = "" }) => {
    const read = readRecordFile(fileOf(path, content));
    if (read.kind !== "refused") expect.fail(`it was read as a ${read.kind}`);
    expect(read.reason).toBe(reason);
    expect(read.message).toContain(says);
    expect(read.message).toMatch(/^\S.*\.$/);
    expect(read.message).not.toContain("SECRET");
  });

  test("bytes that are not UTF-8, wherever they stand", () => {
    for (const path of ["records/a.md", "cursor.md"]) {
      const text = textOf(withLines("status: done"));
      const content = Buffer.concat([Buffer.from(text), Buffer.from([0xff])]);
      expect(readRecordFile({ path, content })).toMatchObject({ kind: "refused", reason: "invalid_record" });
    }
  });
});

describe("a file is read", () => {
  test.each([
    ["a byte order mark before the first line", `\ufeff${withLines("status: s")}`, { status: "s", body: "" }],
    ["spaces after its marks", withLines("status: s").replaceAll("---", "--- \t"), { status: "s", body: "" }],
    ["a mark of more hyphens, which is none", `${withLines("status: s")}\n----\n`, { body: "----" }],
    ["a mark in the body, which is body", `${withLines("status: s")}a\n---\nb\n`, { body: "a\n---\nb" }],
    ["no line end after its last mark", withLines("status: s").trimEnd(), { status: "s", body: "" }],
    ["white space around its body", `${withLines("")}\u2003\n\n b \n \u3000`, { body: "b" }],
    ["a quoted status", withLines(`status: "a\\u0020b"`), { status: "a b" }],
    ["a status over two lines", withLines("status: a\n  b"), { status: "a b" }],
    ["a status without a value", withLines("status:"), { status: "" }],
    ["a status that is spelled like nothing", withLines("status: ~"), { status: "~" }],
    ["references without a value", withLines("references: null"), { references: [] }],
    ["a number as a reference", withLines("references: [007]"), { references: ["007"] }],
    ["comments", withLines("# a\nstatus: s # b"), { status: "s" }],
    ["a key in quotes", withLines('"status": s'), { status: "s" }],
    ["an explicit key", withLines("? status\n: s"), { status: "s" }],
  ])("with %s", (_title, content, fields) => {
    expect(recordOf(content).fields).toMatchObject(fields);
  });

  test.each(["a.md", "records/a.md"])("under the path %s", (path) => {
    expect(recordOf(withLines("name: a"), path).name).toBe("a");
  });

  test("as the record named cursor where it lies among the records", () => {
    expect(recordOf(withLines(""), "records/cursor.md").name).toBe("cursor");
    expect(readRecordFile(fileOf("cursor.md", "---\n"))).toEqual({ kind: "cursor", content: "---\n" });
  });

  test("with the largest fields that are legal", () => {
    const target = "x".repeat(limits.targetBytes);
    const refs = `    - kind: node\n      target: ${target}\n`.repeat(limits.refs);
    const { fields } = recordOf(`---\ntype: plan\nrefs:\n${refs}---\n${"b".repeat(limits.bodyBytes)}\n`);
    expect([fields.refs.length, fields.body.length]).toEqual([limits.refs, limits.bodyBytes]);
  });
});

describe("milliseconds count", () => {
  test.each([
    ["while their second is the one that is said", 1_700_000_000, 1_700_000_000_999, 1_700_000_000_999],
    ["no more once the seconds were rewritten", 1_700_000_001, 1_700_000_000_999, 1_700_000_001_000],
    ["no more once the seconds were set back", 1_699_999_999, 1_700_000_000_000, 1_699_999_999_000],
  ])("%s", (_title, updated, updated_ms, expected) => {
    const file = readRecordFile(decisionFile("a", { updated, updated_ms }));
    expect(file).toMatchObject({ updatedMs: expected, createdMs: undefined });
  });

  test("not at all without seconds, or when they are no number", () => {
    expect(readRecordFile(decisionFile("a", { created_ms: 1_700_000_000_999 }))).toMatchObject({
      createdMs: undefined,
    });
    const odd = readRecordFile(decisionFile("a", { created: 1_700_000_000, created_ms: "soon" }));
    expect(odd).toMatchObject({ createdMs: 1_700_000_000_000 });
  });
});

describe("unknown keys are kept as JSON", () => {
  test.each([
    ["a text", "k: v", '"v"'],
    ["a text with a line end", "k: |\n  a\n  b", '"a\\nb\\n"'],
    ["a date, which is a text", "k: 2024-01-01", '"2024-01-01"'],
    ["yes, which is a text", "k: yes", '"yes"'],
    ["a number in quotes, which is a text", "k: '1'", '"1"'],
    ["a truth", "k: True", "true"],
    ["nothing", "k:", "null"],
    ["nothing, spelled out", "k: NULL", "null"],
    ["a number", "k: 12", "12"],
    ["a version, digit for digit", "k: 1.10", "1.10"],
    ["a number beyond the exact ones", "k: 12345678901234567890", "12345678901234567890"],
    ["a number beyond the largest", "k: 1e999", "1e999"],
    ["a number with its sign", "k: +1", "1"],
    ["a number with leading zeros", "k: -007", "-7"],
    ["a number without a whole part", "k: .50", "0.50"],
    ["a number without a fraction", "k: 1.", "1"],
    ["a number with an exponent alone", "k: 2.e+3", "2e+3"],
    ["a hexadecimal number", "k: 0x1f", "31"],
    ["an octal number", "k: 0o17", "15"],
    ["a hexadecimal number too long for a number", `k: 0x${"f".repeat(100)}`, `"0x${"f".repeat(100)}"`],
    ["an endless number, which JSON has not", "k: -.inf", '"-.inf"'],
    ["no number, which JSON has not", "k: .NaN", '".NaN"'],
    ["a list", "k: [1, [a, ~], {}]", '[1,["a",null],{}]'],
    ["a mapping", "k:\n  b: 1\n  a: {c: d}", '{"b":1,"a":{"c":"d"}}'],
    ["a key that is a word of programs", "k: {__proto__: {a: 1}}", '{"__proto__":{"a":1}}'],
    [
      "signs that JSON and YAML disagree on",
      'k: "\\ufeff\\uffff\\u0085\\ud800"',
      '"\\ufeff\\uffff\\u0085\\ud800"',
    ],
  ])("%s", (_title, line, json) => {
    expect(entriesFromExtra(recordOf(withLines(line)).extra)).toEqual([["k", json]]);
  });

  test("in byte order of the keys, whatever these are called", () => {
    const { extra } = recordOf(withLines("b: 1\n10: 1\n9: 1\na: 1\n__proto__: 1\n\u{1f600}: 1\n\uffee: 1"));
    expect(entriesFromExtra(extra).map(([key]) => key)).toEqual([
      ...["10", "9", "__proto__", "a", "b", "\uffee", "\u{1f600}"],
    ]);
  });

  test("up to 16,384 bytes of keys and values", () => {
    const line = (size: number): string => withLines(`k: ${"x".repeat(size - 3)}`);
    expect(entriesFromExtra(recordOf(line(limits.extraBytes)).extra)).toHaveLength(1);
    const over = readRecordFile(fileOf("a.md", line(limits.extraBytes + 1)));
    expect(over).toMatchObject({ kind: "refused", reason: "too_large" });
  });
});

test("front matter may be 32 deep, in brackets and in lines", () => {
  const brackets = (depth: number): string => `k: ${"[".repeat(depth)}${"]".repeat(depth)}`;
  const lines = (depth: number): string =>
    Array.from({ length: depth }, (_, at) => `${" ".repeat(at)}k:`).join("\n");
  for (const text of [brackets(32), lines(32)]) expect(parseYaml(text).kind).toBe("map");
  for (const text of [brackets(33), lines(33)]) {
    expect(parseYaml(text)).toMatchObject({ kind: "fault", description: "is nested more than 32 deep" });
  }
});
