/**
 * What RecordService answers of single records, history and workspaces where a vector file does not reach: the
 * tables, rights, limits and pages. MV1, MV33, MV38, MV47, MV58 and M55.
 */
import { Code } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { MemoryType } from "../../gen/magus/memory/v1/memory_pb.js";
import { ChangeKind, RecordView } from "../../gen/memoryd/records/v1/records_pb.js";
import type { Caller } from "../../src/kernel/caller.js";
import { binaryBytes } from "../../src/memory/size.js";
import { engines } from "./door.js";
import { errorOf, refusalOf } from "./errors.js";
import { calling, createdMs, decision, largestFields, type MemoryInit, oneTo, updatedMs } from "./records.js";
import { type Stack, stackForTest } from "./stack.js";

const workspace = "history";
const options = calling({ workspace });
const maxPageBytes = 2_097_152;

const put = async ({ client }: Stack, memory: MemoryInit, into = options) =>
  (await client.updateMemory({ memory, allowMissing: true }, into)).memory;

const largest = (name: string): MemoryInit => ({
  ...decision(name),
  refs: largestFields.refs.map(({ kind, target }) => ({ kind, target })),
  status: largestFields.status,
  body: largestFields.body,
  references: [...largestFields.references],
});

describe.each(engines)("on %s", (engine) => {
  describe("one record", () => {
    test("MV33 that no longer reads as one is refused by a get and named by a batch", async () => {
      const stack = await stackForTest(engine);
      for (const name of ["a", "b", "c"]) await put(stack, decision(name));
      stack.run("update memory_records set type = 9 where name = 'b'");
      expect(await refusalOf(stack.records.getRecord({ name: "b" }, options))).toEqual({
        code: "failed_precondition",
        reason: "RECORD_UNREADABLE",
      });
      const names = ["c", "gone", "b", "a", "b"];
      const batch = await stack.records.batchGetRecords({ names }, options);
      expect(batch.records.map(({ memory }) => memory?.name)).toEqual(["c", "a"]);
      expect([batch.missing, batch.unreadable, batch.leftOut]).toEqual([["gone"], ["b"], []]);
    });

    test("is looked for in the workspace of the call alone", async () => {
      const stack = await stackForTest(engine);
      await put(stack, decision("a"));
      const elsewhere = calling({ workspace: "elsewhere" });
      expect(await refusalOf(stack.records.getRecord({ name: "a" }, elsewhere))).toEqual({
        code: "not_found",
        reason: "RECORD_NOT_FOUND",
      });
      const { missing } = await stack.records.batchGetRecords({ names: ["a"] }, elsewhere);
      expect(missing).toEqual(["a"]);
    });
  });

  test("MV47 of ten of the largest records six are answered and four left out, and all without bodies", async () => {
    const stack = await stackForTest(engine);
    const names = oneTo(10).map((number) => `n-${number}`);
    for (const name of names) await put(stack, largest(name));
    const batch = await stack.records.batchGetRecords({ names: [...names, "gone"] }, options);
    expect(batch.records.map(({ memory }) => memory?.name)).toEqual(names.slice(0, 6));
    expect([batch.leftOut, batch.missing]).toEqual([names.slice(6), ["gone"]]);
    const basic = await stack.records.batchGetRecords({ names, view: RecordView.BASIC }, options);
    expect(basic.records.map(({ memory }) => memory?.body)).toEqual(basic.records.map(() => ""));
    expect(basic.records.length).toBeGreaterThan(6);
  });

  describe("history", () => {
    test("MV38 after 60 writes of the cursor the live value and 50 earlier ones are listed", async () => {
      const stack = await stackForTest(engine);
      for (const number of oneTo(60)) await stack.client.updateCursor({ content: `text ${number}` }, options);
      const contents: string[] = [];
      let pageToken = "";
      do {
        const page = await stack.records.listCursorRevisions({ pageSize: 30, pageToken }, options);
        contents.push(...page.cursors.map(({ content }) => content));
        pageToken = page.nextPageToken;
      } while (pageToken !== "");
      expect(contents).toEqual(
        oneTo(60)
          .slice(-51)
          .reverse()
          .map((number) => `text ${number}`),
      );
      const { content } = await stack.client.getCursor({}, options);
      expect(contents[0]).toBe(content);
    });

    test("has 20 revisions on a page unless asked, and 100 at most", async () => {
      const stack = await stackForTest(engine, { revisionsPerRecord: 200 });
      await Promise.all(oneTo(120).map(() => put(stack, decision("a"))));
      const countOf = async (pageSize: number): Promise<number> =>
        (await stack.records.listRecordRevisions({ name: "a", pageSize }, options)).revisions.length;
      expect([await countOf(0), await countOf(7), await countOf(5_000)]).toEqual([20, 7, 100]);
    });

    test("is answered in pages of the size that every client can take", async () => {
      const stack = await stackForTest(engine);
      const bytes = binaryBytes({
        ...largestFields,
        readable: true,
        name: "a",
        extra: "{}",
        createdMs: 0,
        updatedMs: 0,
        revision: 1,
        writer: { user: "tester", agent: "" },
      });
      for (const _round of oneTo(8)) await put(stack, largest("a"));
      const first = await stack.records.listRecordRevisions({ name: "a" }, options);
      expect(first.revisions).toHaveLength(Math.floor(maxPageBytes / bytes));
      const pageToken = first.nextPageToken;
      const rest = await stack.records.listRecordRevisions({ name: "a", pageToken }, options);
      expect(first.revisions.length + rest.revisions.length).toBe(8);
      expect(rest.nextPageToken).toBe("");
    });

    test("of a deleted name is there, with the deletion on top", async () => {
      const stack = await stackForTest(engine);
      await put(stack, decision("a"));
      await stack.client.deleteMemory({ name: "a" }, options);
      const { revisions } = await stack.records.listRecordRevisions({ name: "a" }, options);
      expect(revisions.map(({ kind }) => kind)).toEqual([ChangeKind.DELETED, ChangeKind.CREATED]);
      expect(revisions.map(({ memory }) => memory?.name)).toEqual([undefined, "a"]);
    });

    test("of a name that was never written is not found, with the names that are near", async () => {
      const stack = await stackForTest(engine);
      await put(stack, decision("cache-key"));
      expect(await refusalOf(stack.records.listRecordRevisions({ name: "cache-keys" }, options))).toEqual({
        code: "not_found",
        reason: "RECORD_NOT_FOUND",
        metadata: { nearest: "cache-key" },
      });
    });

    test("refuses a token of another method or workspace", async () => {
      const stack = await stackForTest(engine);
      for (const content of ["one", "two"]) await stack.client.updateCursor({ content }, options);
      const { nextPageToken: pageToken } = await stack.records.listCursorRevisions({ pageSize: 1 }, options);
      const refused = { code: "invalid_argument", reason: "INVALID_PAGE_TOKEN", fields: ["page_token"] };
      const elsewhere = calling({ workspace: "elsewhere" });
      const { records } = stack;
      expect(await refusalOf(records.listCursorRevisions({ pageToken }, elsewhere))).toEqual(refused);
      expect(await refusalOf(records.listWorkspaces({ pageToken }))).toEqual(refused);
      expect(await refusalOf(records.listCursorRevisions({ pageToken: "zzz" }, options))).toEqual(refused);
    });
  });

  describe("a restore", () => {
    const unusable = { code: "failed_precondition", reason: "REVISION_UNUSABLE" };
    const damagedContents: readonly (readonly [string, object])[] = [
      ["an unknown type", { type: 9 }],
      ["an unknown kind of ref", { refs: [{ kind: 77, target: "x" }] }],
      ["no refs", { refs: [] }],
      ["a control character", { body: "\u001b" }],
      ["a body on a pointer", { type: MemoryType.POINTER, body: "x" }],
    ];

    test.each(damagedContents)("is refused for a revision that holds %s", async (_what, change) => {
      const stack = await stackForTest(engine);
      await put(stack, decision("a"));
      await put(stack, decision("a", { status: "done" }));
      const [{ content } = {}] = stack.rows("select content from memory_revisions where revision = 1");
      const changed = JSON.stringify({ ...JSON.parse(String(content)), ...change });
      stack.run("update memory_revisions set content = ? where revision = 1", changed);
      expect(await refusalOf(stack.records.restoreRecord({ name: "a", revision: 1n }, options))).toEqual(
        unusable,
      );
      const { revisions } = await stack.records.listRecordRevisions({ name: "a" }, options);
      expect(revisions).toHaveLength(2);
    });

    test("repairs a record that no longer reads as one, and keeps its create time", async () => {
      const stack = await stackForTest(engine);
      const memory = await put(stack, decision("a", { status: "one" }));
      await put(stack, decision("a", { status: "two" }));
      stack.run("update memory_records set type = 9");
      const { record } = await stack.records.restoreRecord({ name: "a" }, options);
      expect(record?.memory?.status).toBe("one");
      expect(createdMs(record?.memory)).toBe(createdMs(memory));
      expect(updatedMs(record?.memory)).toBeGreaterThan(updatedMs(memory));
    });

    test("into a full workspace is refused for a deleted record alone", async () => {
      const stack = await stackForTest(engine, { maxRecords: 2 });
      for (const name of ["a", "b"]) await put(stack, decision(name));
      await stack.client.deleteMemory({ name: "a" }, options);
      for (const name of ["b", "c"]) await put(stack, decision(name));
      const { records } = stack;
      expect(await refusalOf(records.restoreRecord({ name: "a" }, options))).toEqual({
        code: "resource_exhausted",
        reason: "TOO_MANY_RECORDS",
      });
      await records.restoreRecord({ name: "b" }, options);
    });

    test("goes on where the name's times stopped, whatever the clock does", async () => {
      let nowMs = 1_000_000;
      const stack = await stackForTest(engine, { clock: { nowMs: () => nowMs } });
      await put(stack, decision("a"));
      await stack.client.deleteMemory({ name: "a" }, options);
      nowMs = 0;
      const { record } = await stack.records.restoreRecord({ name: "a" }, options);
      expect([createdMs(record?.memory), updatedMs(record?.memory)]).toEqual([1_000_000, 1_000_002]);
    });
  });

  describe("workspaces", () => {
    test("MV1 one that is only read is not among them", async () => {
      const stack = await stackForTest(engine);
      await stack.client.listMemories({}, options);
      await stack.client.getCursor({}, options);
      await stack.records.listCursorRevisions({}, options);
      await stack.records.batchGetRecords({ names: ["a"] }, options);
      await refusalOf(stack.records.getRecord({ name: "a" }, options));
      await refusalOf(stack.records.restoreRecord({ name: "a" }, options));
      await refusalOf(stack.records.redactRecordRevisions({ name: "a" }, options));
      await stack.records.redactRecordRevisions({ cursor: true }, options);
      const { workspaces, nextPageToken, defaultWorkspace } = await stack.records.listWorkspaces({});
      expect([workspaces, nextPageToken, defaultWorkspace]).toEqual([[], "", "default"]);
    });

    test("are listed in byte order, page by page, whatever workspace the call names", async () => {
      const stack = await stackForTest(engine);
      const names = ["ab", "a0", "a-b", "a", "default"];
      for (const name of names) await put(stack, decision("n"), calling({ workspace: name }));
      const listed: string[] = [];
      let pageToken = "";
      do {
        const page = await stack.records.listWorkspaces({ pageSize: 2, pageToken }, options);
        expect(page.workspaces.every(({ recordCount }) => recordCount === 1)).toBe(true);
        expect(page.workspaces.every(({ updateTime }) => updateTime !== undefined)).toBe(true);
        listed.push(...page.workspaces.map(({ workspace: name }) => name));
        pageToken = page.nextPageToken;
      } while (pageToken !== "");
      expect(listed).toEqual(["a", "a-b", "a0", "ab", "default"]);
      const refused = { code: "invalid_argument", reason: "INVALID_ARGUMENT", fields: ["page_size"] };
      expect(await refusalOf(stack.records.listWorkspaces({ pageSize: -1 }))).toEqual(refused);
    });
  });

  test("MV58 reading records and history a hundred times changes nothing", async () => {
    const stack = await stackForTest(engine);
    await put(stack, decision("a"));
    await put(stack, decision("a", { status: "done" }));
    await stack.client.updateCursor({ content: "text" }, options);
    const tables = ["workspaces", "records", "refs", "links", "cursors", "revisions"];
    const state = () => tables.map((table) => stack.rows(`select * from memory_${table}`));
    const before = state();
    for (const _round of oneTo(100)) {
      await stack.records.getRecord({ name: "a" }, options);
      await stack.records.batchGetRecords({ names: ["a"] }, options);
      await stack.records.listRecordRevisions({ name: "a" }, options);
      await stack.records.listCursorRevisions({}, options);
      await stack.records.listWorkspaces({});
    }
    expect(state()).toEqual(before);
  });
});

describe("rights", () => {
  const engine = "SQLite in memory";
  const callers: readonly Caller[] = [
    { user: "ana", right: "read" },
    { user: "ana", agent: "coder", right: "write" },
    { user: "ana", right: "admin" },
  ];

  test.each(callers)("M5 a caller with the right $right may do what it allows", async (caller) => {
    const stack = await stackForTest(engine, { caller });
    const { records } = stack;
    const scope = { workspace, writer: { user: "tester", agent: "" } };
    for (const status of ["one", "two"]) {
      const fields = { ...largestFields, status };
      await stack.storage.change(scope, "a", () => ({ kind: "put", fields }));
    }
    await records.getRecord({ name: "a" }, options);
    await records.batchGetRecords({ names: ["a"] }, options);
    await records.listRecordRevisions({ name: "a" }, options);
    await records.listCursorRevisions({}, options);
    await records.listWorkspaces({});
    const outcomes: (Code | undefined)[] = [];
    const calls = [
      () => records.restoreRecord({ name: "a" }, options),
      () => records.redactRecordRevisions({ name: "a" }, options),
    ];
    for (const call of calls) {
      outcomes.push(
        await call().then(
          () => undefined,
          (error: { code: Code }) => error.code,
        ),
      );
    }
    const denied = Code.PermissionDenied;
    const expected = { read: [denied, denied], write: [undefined, denied], admin: [undefined, undefined] };
    expect(outcomes).toEqual(expected[caller.right]);
  });

  test("a restore is written in the name of who asked for it", async () => {
    const stack = await stackForTest(engine, { caller: { user: "ana", agent: "coder", right: "write" } });
    await put(stack, decision("a"));
    await put(stack, decision("a"));
    const { record } = await stack.records.restoreRecord({ name: "a" }, options);
    expect(record?.writer).toMatchObject({ user: "ana", agent: "coder" });
  });

  test("the error of an absent record does not speak of a field that its request lacks", async () => {
    const stack = await stackForTest(engine);
    const error = await errorOf(stack.records.getRecord({ name: "a" }, options));
    expect(error.rawMessage).not.toContain("allow_missing");
  });
});
