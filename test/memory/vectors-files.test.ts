/** The vectors of export and import, MV64–MV67, through the wire. */
import { describe, expect, test } from "vitest";
import { MemoryType } from "../../gen/magus/memory/v1/memory_pb.js";
import { ImportMode, ImportOutcome } from "../../gen/memoryd/records/v1/records_pb.js";
import { createTestClock, type Engine, engines } from "./door.js";
import {
  decisionFile,
  earlierTool,
  exportedFrom,
  type FileInit,
  fileOf,
  importCases,
  refusedFiles,
} from "./files.js";
import { calling, createdMs, decision, largestFields, longName, updatedMs } from "./records.js";
import { type Stack, stackForTest } from "./stack.js";
import { hostileText } from "./workspace.js";

const workspace = "vectors";
const options = calling({ workspace });

const exported = (stack: Stack) => exportedFrom(stack.records.exportRecords({}, options));

const imported = async (
  stack: Stack,
  files: readonly FileInit[],
  more: { mode?: ImportMode; dryRun?: boolean } = {},
) => (await stack.records.importRecords({ files: [...files], ...more }, options)).results;

const outcomesOf = async (...call: Parameters<typeof imported>) =>
  (await imported(...call)).map(({ outcome, reason }) => [ImportOutcome[outcome], reason]);

const listed = async (stack: Stack) => (await stack.client.listMemories({}, options)).memories;

const put = (stack: Stack, name: string, changes: object = {}) =>
  stack.client.updateMemory({ memory: decision(name, changes), allowMissing: true }, options);

const earlierFiles = Object.entries(earlierTool.files).map(([path, content]) => fileOf(path, content));

const otherEngine = (engine: Engine): Engine => engines.find((other) => other !== engine) ?? engine;

describe.each(engines)("on %s", (engine) => {
  test("MV64 an export that is imported on another engine exports the same bytes", async () => {
    const [from, to] = [await stackForTest(engine), await stackForTest(otherEngine(engine))];
    const names = ["a", "a-b", "a0", "cursor", longName("long")];
    for (const name of names) await put(from, name, { body: hostileText, status: "\ufeff\u202e" });
    await put(from, "largest", { ...largestFields, type: MemoryType.PLAN });
    await put(from, "a0", { status: "later" });
    await from.client.updateCursor({ content: " x\r\n\ufeff" }, options);
    await imported(from, earlierFiles, { mode: ImportMode.REPLACE });
    const first = await exported(from);
    expect(first.summary.recordCount).toBe(names.length + 1 + earlierTool.says.length);
    expect(await outcomesOf(to, first.files)).toEqual(first.files.map(() => ["CREATED", ""]));
    const second = await exported(to);
    expect(second.texts).toEqual(first.texts);
    expect(second.summary.digest).toBe(first.summary.digest);
    expect(await outcomesOf(from, second.files)).toEqual(first.files.map(() => ["UNCHANGED", ""]));
  });

  test("MV65 a directory of an earlier tool comes in whole, and goes out the same every time", async () => {
    const stack = await stackForTest(engine);
    expect(await outcomesOf(stack, earlierFiles)).toEqual(earlierFiles.map(() => ["CREATED", ""]));
    const records = (await listed(stack)).map((memory) => ({
      name: memory.name,
      type: memory.type,
      refs: memory.refs.map(({ kind, target }) => [kind, target]),
      status: memory.status,
      body: memory.body,
      references: memory.references,
      created: new Date(createdMs(memory)).toISOString(),
      updated: new Date(updatedMs(memory)).toISOString(),
    }));
    const now = expect.stringMatching(/^20/);
    expect(records).toEqual(earlierTool.says.map((says) => ({ ...says, updated: says.updated ?? now })));
    const { texts, files, summary } = await exported(stack);
    expect(texts).toMatchObject(earlierTool.writtenBack);
    const other = await stackForTest(engine);
    await imported(other, files);
    expect((await exported(other)).summary.digest).toBe(summary.digest);
  });

  test("MV65 keys that memoryd does not know outlive updates, history and restore, and are in no record", async () => {
    const stack = await stackForTest(engine);
    const { records, client } = stack;
    const name = "unknown-keys";
    await imported(stack, earlierFiles);
    const keysOf = async () =>
      /^nested:.*---/ms.exec((await exported(stack)).texts[`records/${name}.md`] ?? "")?.[0];
    const keys = await keysOf();
    expect(keys).toContain("version: 1.10");
    await client.updateMemory({ memory: { name, status: "s" }, updateMask: { paths: ["status"] } }, options);
    const [whole] = (await listed(stack)).filter((memory) => memory.name === name);
    expect(JSON.stringify(whole?.refs.map(({ target }) => target))).not.toContain("ana");
    await put(stack, name);
    expect(await keysOf()).toBe(keys);
    await client.deleteMemory({ name }, options);
    expect(await keysOf()).toBeUndefined();
    await records.restoreRecord({ name }, options);
    expect(await keysOf()).toBe(keys);
  });

  test("MV66 each bad file is refused for its own reason, and the others come in", async () => {
    const stack = await stackForTest(engine);
    const small = refusedFiles.filter(({ reason, path }) => reason !== "too_large" && path !== "cursor.md");
    const files = small.flatMap(({ path, content }, index) => [
      fileOf(path, content),
      decisionFile(`good-${index}`),
    ]);
    const results = await imported(stack, files);
    expect(results.map(({ outcome, reason }) => [ImportOutcome[outcome], reason])).toEqual(
      small.flatMap(({ reason }) => [
        ["REFUSED", reason],
        ["CREATED", ""],
      ]),
    );
    expect(results.map(({ path }) => path)).toEqual(files.map(({ path }) => path));
    expect(JSON.stringify(results.map(({ message }) => message))).not.toContain("SECRET");
    expect(await listed(stack)).toHaveLength(small.length);
  });

  test.each(importCases)("MV67 in the mode $mode, $title: $outcome $reason", async (vector) => {
    const clock = createTestClock(Date.parse("2026-03-04T05:06:07.089Z"));
    const stack = await stackForTest(engine, { clock });
    await put(stack, "a");
    const before = await exported(stack);
    clock.set(Date.parse("2026-04-04T00:00:00Z"));
    const file = decisionFile("a", vector.file);
    const mode = ImportMode[vector.mode];
    expect(await outcomesOf(stack, [file], { mode, dryRun: true })).toEqual([
      [vector.outcome, vector.reason],
    ]);
    expect((await exported(stack)).summary).toEqual(before.summary);
    const [result] = await imported(stack, [file], { mode });
    expect([ImportOutcome[result?.outcome ?? 0], result?.reason]).toEqual([vector.outcome, vector.reason]);
    const after = await exported(stack);
    if (vector.outcome === "REPLACED") {
      const [record] = await listed(stack);
      expect(new Date(createdMs(record)).toISOString()).toBe("2026-03-04T05:06:07.089Z");
      expect(new Date(updatedMs(record)).toISOString()).toBe("2026-04-04T00:00:00.000Z");
      expect(await outcomesOf(stack, [file], { mode })).toEqual([["UNCHANGED", ""]]);
    } else {
      expect(after.summary).toEqual(before.summary);
    }
  });
});
