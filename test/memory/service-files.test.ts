/** Export and import beyond their vectors: rights, limits, names, room, times, and what happens meanwhile. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ImportMode, ImportOutcome } from "../../gen/memoryd/records/v1/records_pb.js";
import { extraFromEntries } from "../../src/memory/extra.js";
import { fileFromRecord } from "../../src/memory/files-format.js";
import { createFilesService, type ExportPart } from "../../src/memory/service-files.js";
import type { Schedule } from "../../src/memory/stall.js";
import { anyJsonEntries, anySlug, legalFields } from "./arbitrary.js";
import { createTestClock, engines } from "./door.js";
import { refusalOf } from "./errors.js";
import { decisionFile, exportedFrom, type FileInit, fileOf } from "./files.js";
import { probeOf } from "./probe.js";
import { calling, decision, oneTo } from "./records.js";
import { type Stack, stackForTest, tester } from "./stack.js";

const workspace = "files";
const options = calling({ workspace });

const put = (stack: Stack, name: string, changes: object = {}) =>
  stack.client.updateMemory({ memory: decision(name, changes), allowMissing: true }, options);

const exported = (stack: Stack, request: { names?: string[]; skipCursor?: boolean } = {}) =>
  exportedFrom(stack.records.exportRecords(request, options));

type More = { readonly mode?: ImportMode; readonly dryRun?: boolean };

const imported = async (stack: Stack, files: readonly FileInit[], more: More = {}) =>
  (await stack.records.importRecords({ files: [...files], ...more }, options)).results;

const outcomes = async (stack: Stack, files: readonly FileInit[], more: More = {}) =>
  (await imported(stack, files, more)).map(({ outcome, reason }) => [ImportOutcome[outcome], reason]);

const serviceOf = (stack: Stack, schedule?: Schedule) =>
  createFilesService(
    stack.storage,
    { defaultWorkspace: workspace, maxRecords: 10_000, maxWorkspaces: 1_000 },
    { nowMs: () => 0 },
    schedule,
  );

const everything = { names: [], skipCursor: false };

describe.each(engines)("on %s", (engine) => {
  describe("an export", () => {
    test("of a workspace that does not exist is a summary alone", async () => {
      const { files, summary } = await exported(await stackForTest(engine));
      expect(files).toEqual([]);
      expect(summary).toMatchObject({ recordCount: 0, unreadable: [], position: ".0" });
      expect(summary.digest).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    });

    test("has its files in byte order of their paths, the cursor among them unless it is left out", async () => {
      const stack = await stackForTest(engine);
      for (const name of ["a", "a-b", "a0"]) await put(stack, name);
      await stack.client.updateCursor({ content: "" }, options);
      const records = ["records/a-b.md", "records/a.md", "records/a0.md"];
      const pathsOf = async (request: object) =>
        (await exported(stack, request)).files.map(({ path }) => path);
      expect(await pathsOf({})).toEqual(["cursor.md", ...records]);
      expect(await pathsOf({ skipCursor: true })).toEqual(records);
      expect(await pathsOf({ names: ["a0", "a", "a0"], skipCursor: true })).toEqual(records.slice(1));
    });

    test("of an absent name fails before any file, and tells the names that may be meant", async () => {
      const stack = await stackForTest(engine);
      await put(stack, "cache-key");
      const call = exported(stack, { names: ["cache-key", "cache-kay"] });
      expect(await refusalOf(call)).toMatchObject({
        code: "not_found",
        reason: "RECORD_NOT_FOUND",
        metadata: { nearest: "cache-key" },
      });
    });

    test("refuses malformed names and more than 100", async () => {
      const stack = await stackForTest(engine);
      const fields = async (names: string[]) => (await refusalOf(exported(stack, { names }))).fields;
      expect(await fields(["a", "Bad Name", ""])).toEqual(["names[1]", "names[2]"]);
      expect(await fields(oneTo(101).map((number) => `n${number}`))).toEqual(["names"]);
    });

    test("lists rows that no longer read as records and writes the others", async () => {
      const stack = await stackForTest(engine);
      for (const name of ["b", "a", "a-b", "c"]) await put(stack, name);
      for (const name of ["a", "a-b"]) await probeOf(stack).damage(workspace, name, "refs");
      const { files, summary } = await exported(stack);
      expect(files.map(({ path }) => path)).toEqual(["records/b.md", "records/c.md"]);
      expect(summary).toMatchObject({ recordCount: 2, unreadable: ["a", "a-b"] });
    });

    test("shows one moment, whatever is written while it is read", async () => {
      const stack = await stackForTest(engine);
      await Promise.all(oneTo(500).map((number) => put(stack, `n${number}`, { status: "then" })));
      const before = await exported(stack);
      const texts: Record<string, string> = {};
      let read = 0;
      for await (const part of serviceOf(stack).exportRecords({ caller: tester }, everything)) {
        read += 1;
        if (read % 50 === 1) {
          await put(stack, `n${500 - read}`, { status: "now" });
          await put(stack, `new-${read}`);
          await stack.client.deleteMemory({ name: `n${499 - read}`, allowMissing: true }, options);
          await stack.client.updateCursor({ content: `${read}` }, options);
        }
        if (part.kind === "file") texts[part.file.path] = Buffer.from(part.file.content).toString("utf8");
        else expect(part.summary.digest).toBe(before.summary.digest);
      }
      expect(texts).toEqual(before.texts);
    });

    test("ends when a state that it shows is kept no longer", async () => {
      const stack = await stackForTest(engine, { revisionsPerRecord: 10 });
      await Promise.all(oneTo(300).map((number) => put(stack, `n${number}`)));
      const read = async (): Promise<void> => {
        for await (const part of serviceOf(stack).exportRecords({ caller: tester }, everything)) {
          if (part.kind === "file" && part.file.path !== "records/n1.md") continue;
          for (const round of oneTo(11)) await put(stack, "n99", { status: `${round}` });
        }
      };
      await expect(read()).rejects.toMatchObject({ code: "unavailable", reason: "EXPORT_OVERTAKEN" });
    });

    test("ends when its reader stalls for 30 seconds", async () => {
      const stack = await stackForTest(engine);
      for (const name of ["a", "b"]) await put(stack, name);
      let [stall, delay] = [() => {}, 0];
      const schedule: Schedule = (callback, delayMs) => {
        [stall, delay] = [callback, delayMs];
        return () => {};
      };
      const parts = serviceOf(stack, schedule)
        .exportRecords({ caller: tester }, everything)
        [Symbol.asyncIterator]();
      expect((await parts.next()).value).toMatchObject({ kind: "file" } satisfies Partial<ExportPart>);
      expect(delay).toBe(30_000);
      stall();
      await expect(parts.next()).rejects.toMatchObject({ code: "unavailable", reason: "READER_STALLED" });
    });

    test("MV58 changes nothing, a hundred times", async () => {
      const stack = await stackForTest(engine);
      for (const name of ["a", "b"]) await put(stack, name);
      const tables = () =>
        ["workspaces", "records", "refs", "revisions"].map((table) =>
          stack.rows(`select * from memory_${table}`),
        );
      const before = tables();
      for (const _round of oneTo(100)) await exported(stack);
      expect(tables()).toEqual(before);
    });
  });

  describe("an import", () => {
    test("needs the right to write, also when it writes nothing; an export needs the right to read", async () => {
      const stack = await stackForTest(engine, { caller: { user: "reader", right: "read" } });
      for (const dryRun of [true, false]) {
        expect(await refusalOf(imported(stack, [], { dryRun }))).toMatchObject({ code: "permission_denied" });
      }
      expect((await exported(stack)).files).toEqual([]);
    });

    test("MV26 refuses a precondition, and nothing is written", async () => {
      const stack = await stackForTest(engine);
      const call = stack.records.importRecords(
        { files: [decisionFile("a")] },
        calling({ workspace, ifUpdateTime: "absent" }),
      );
      expect(await refusalOf(call)).toMatchObject({
        code: "invalid_argument",
        fields: ["memoryd-if-update-time"],
      });
      expect((await exported(stack)).files).toEqual([]);
    });

    test("refuses more than 1,000 files, and a mode that nobody knows", async () => {
      const stack = await stackForTest(engine);
      const many = oneTo(1_001).map((number) => fileOf(`records/n${number}.md`, "x"));
      expect(await refusalOf(imported(stack, many))).toMatchObject({ fields: ["files"] });
      expect(await outcomes(stack, many.slice(1))).toEqual(
        oneTo(1_000).map(() => ["REFUSED", "no_front_matter"]),
      );
      expect(await refusalOf(imported(stack, [], { mode: 9 as ImportMode }))).toMatchObject({
        fields: ["mode"],
      });
      expect(await imported(stack, [])).toEqual([]);
    });

    test("stops at the number of records, and a dry run knows where", async () => {
      const stack = await stackForTest(engine, { maxRecords: 3 });
      await put(stack, "a");
      const files = ["b", "a", "c", "d", "c"].map((name) => decisionFile(name));
      const expected = [
        ["CREATED", ""],
        ["UNCHANGED", ""],
        ["CREATED", ""],
        ["REFUSED", "too_many_records"],
        ["UNCHANGED", ""],
      ];
      expect(await outcomes(stack, files, { dryRun: true })).toEqual(expected);
      expect((await exported(stack)).summary.recordCount).toBe(1);
      expect(await outcomes(stack, files)).toEqual(expected);
    });

    test("fails as a whole when there is no room for one more workspace, and so does its dry run", async () => {
      const stack = await stackForTest(engine, { maxWorkspaces: 1 });
      await stack.client.updateCursor({ content: "x" }, calling({ workspace: "other" }));
      for (const dryRun of [true, false]) {
        const call = imported(stack, [decisionFile("a"), fileOf("cursor.md", "x")], { dryRun });
        expect(await refusalOf(call)).toMatchObject({ reason: "TOO_MANY_WORKSPACES" });
      }
    });

    test("answers in a dry run what it would answer, for files about one name too", async () => {
      const files = [
        decisionFile("a", { status: "one", updated: 1_000 }),
        decisionFile("a", { status: "two", updated: 2_000 }),
        decisionFile("a", { status: "one", updated: 1_000 }),
        fileOf("a.md", "---\ntype: plan\nrefs: [{kind: doc, target: x}]\n---\n"),
        fileOf("cursor.md", "x"),
        fileOf("cursor.md", "y"),
        fileOf("cursor.md", "y"),
      ];
      for (const mode of [ImportMode.SKIP_EXISTING, ImportMode.KEEP_NEWER, ImportMode.REPLACE]) {
        const stack = await stackForTest(engine);
        const rehearsed = await imported(stack, files, { mode, dryRun: true });
        expect(stack.rows("select * from memory_workspaces")).toEqual([]);
        expect(await imported(stack, files, { mode })).toEqual(rehearsed);
      }
    });

    test("names each record, and neither the cursor nor a path that names none", async () => {
      const files = [
        decisionFile("a"),
        fileOf("cursor.md", "x"),
        fileOf("../b.md", "x"),
        fileOf("c.md", "x"),
      ];
      const results = await imported(await stackForTest(engine), files);
      expect(results.map(({ name }) => name)).toEqual(["a", "", "", "c"]);
    });

    test.each([
      ["no times", {}, 5_000_000, 5_000_000],
      ["times of the past", { created: 1, updated: 2 }, 1_000, 2_000],
      ["times of the future", { created: 9_999, updated: 99_999 }, 5_000_000, 5_000_000],
      ["an update of the future alone", { created: 1, updated: 99_999 }, 1_000, 5_000_000],
      ["a creation after its update", { created: 3, updated: 2 }, 2_000, 2_000],
      ["no creation", { updated: 2 }, 2_000, 2_000],
      ["no update", { created: 1 }, 1_000, 5_000_000],
    ])("of a file with %s", async (_title, keys, createdMs, updatedMs) => {
      const stack = await stackForTest(engine, { clock: createTestClock(5_000_000) });
      await imported(stack, [decisionFile("a", keys)]);
      const [row] = stack.rows("select created_ms, updated_ms from memory_records");
      expect(row).toEqual({ created_ms: createdMs, updated_ms: updatedMs });
    });

    test("repairs a damaged row where it may replace, and else leaves it alone", async () => {
      const stack = await stackForTest(engine);
      await put(stack, "a");
      await probeOf(stack).damage(workspace, "a", "type");
      expect(await outcomes(stack, [decisionFile("a")])).toEqual([["SKIPPED", "exists"]]);
      expect(await outcomes(stack, [decisionFile("a")], { mode: ImportMode.REPLACE })).toEqual([
        ["REPLACED", ""],
      ]);
      expect((await exported(stack)).summary.unreadable).toEqual([]);
    });

    test("ends between files when its caller has gone", async () => {
      const stack = await stackForTest(engine);
      const files = oneTo(200).map((number) => decisionFile(`n${number}`));
      const gone = new AbortController();
      stack.database.onBatch(() => gone.abort());
      const request = { files, mode: 0, isDryRun: false };
      await expect(
        serviceOf(stack).importRecords({ caller: tester }, request, gone.signal),
      ).rejects.toThrow();
      const { recordCount } = (await exported(stack)).summary;
      expect(recordCount).toBeGreaterThan(0);
      expect(recordCount).toBeLessThan(200);
    });
  });
});

test("whatever is exported is imported elsewhere and exported as the same bytes", async () => {
  const [from, to] = [await stackForTest("SQLite in memory"), await stackForTest("SQLite on disk")];
  const nowMs = Date.parse("2026-03-04T05:06:07.089Z");
  const anyFile = fc
    .record({
      name: anySlug,
      fields: legalFields,
      entries: anyJsonEntries,
      createdMs: fc.nat({ max: nowMs }),
      ageMs: fc.nat({ max: 1_000 }),
    })
    .map(({ name, fields, entries, createdMs, ageMs }) => {
      const updatedMs = Math.min(createdMs + ageMs, nowMs);
      return { name, ...fields, extra: extraFromEntries(entries), createdMs, updatedMs };
    });
  let runs = 0;
  const property = fc.asyncProperty(
    fc.uniqueArray(anyFile, { maxLength: 6, selector: ({ name }) => name }),
    async (records) => {
      runs += 1;
      const there = calling({ workspace: `run-${runs}` });
      const sent = records.map(fileFromRecord);
      await from.records.importRecords({ files: sent }, there);
      const first = await exportedFrom(from.records.exportRecords({}, there));
      const texts = sent.map(({ path, content }) => [path, Buffer.from(content).toString("utf8")]);
      expect(first.texts).toEqual(Object.fromEntries(texts));
      await to.records.importRecords({ files: [...first.files] }, there);
      const second = await exportedFrom(to.records.exportRecords({}, there));
      expect(second.summary.digest).toBe(first.summary.digest);
    },
  );
  await fc.assert(property, { numRuns: 40 });
});
