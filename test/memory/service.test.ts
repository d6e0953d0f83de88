/** What the service decides beside the vectors: rights, roots, the order of steps, the sweep's time. */
import { Code } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import type { Caller } from "../../src/kernel/caller.js";
import { isMemorydError, type MemorydError } from "../../src/kernel/errors.js";
import type { Call } from "../../src/memory/service-call.js";
import { doorForTest } from "./door.js";
import { refusalOf } from "./errors.js";
import { calling, decision, decisionFields, oneTo } from "./records.js";
import { type Stack, stackForTest } from "./stack.js";

const reader: Caller = { user: "ana", right: "read" };
const writer: Caller = { user: "ana", agent: "coder", right: "write" };
const engine = "SQLite in memory";

const errorOf = async (call: Promise<unknown>): Promise<MemorydError> => {
  try {
    await call;
  } catch (error) {
    if (isMemorydError(error)) return error;
    throw error;
  }
  return expect.fail("it was answered");
};

const put = ({ service }: Stack, call: Call, name: string) =>
  service.updateMemory(call, {
    record: { name, ...decisionFields() },
    maskPaths: [],
    allowMissing: true,
  });

describe("a caller", () => {
  test("with the right to read may read and nothing else, the same whether a workspace exists or not", async () => {
    const stack = await stackForTest(engine);
    await put(stack, { caller: writer, workspace: "old" }, "a");
    for (const workspace of ["old", "new"]) {
      const call = { caller: reader, workspace };
      await stack.service.listMemories(call, { pageSize: 0, pageToken: "" });
      await stack.service.getCursor(call);
      const refusals = await Promise.all([
        errorOf(put(stack, call, "a")),
        errorOf(stack.service.deleteMemory(call, { name: "a", allowMissing: true })),
        errorOf(stack.service.updateCursor(call, { content: "x" })),
      ]);
      for (const { code, message } of refusals) {
        expect([code, message]).toEqual(["permission_denied", refusals[0]?.message]);
      }
    }
    expect(await stack.service.counts()).toEqual({ workspaces: 1, records: 1 });
  });

  test("without the right is told so before anything of the request is looked at", async () => {
    const { service } = await stackForTest(engine);
    const call: Call = { caller: reader, workspace: "A b", ifUpdateTime: "yesterday", root: "x" };
    const request = { record: undefined, maskPaths: [""], allowMissing: false };
    expect((await errorOf(service.updateMemory(call, request))).code).toBe("permission_denied");
  });

  test("is noted as the writer, with the agent that acted", async () => {
    const stack = await stackForTest(engine);
    const stored = await put(stack, { caller: writer }, "a");
    expect(stored.writer).toEqual({ user: "ana", agent: "coder" });
    const cursor = await stack.service.updateCursor(
      { caller: { user: "ben", right: "write" } },
      { content: "x" },
    );
    expect(cursor.writer).toEqual({ user: "ben", agent: "" });
  });
});

describe("a root", () => {
  const metadata = (root: string) => ({ headers: { "memoryd-workspace": "w", "memoryd-root": root } });

  test.each(["", "abc", "0123456789AB", "0123456789abc", "0123456789ab, 0123456789ab"])(
    "that is spelled %j is refused",
    async (root) => {
      const { client } = await doorForTest(engine);
      const call = client.updateMemory({ memory: decision("a"), allowMissing: true }, metadata(root));
      expect(await refusalOf(call)).toEqual({
        code: "invalid_argument",
        reason: "INVALID_ARGUMENT",
        fields: ["memoryd-root"],
      });
    },
  );

  test("that is not attached is told to be so, and is no matter where nobody looks at it", async () => {
    const { client, app } = await doorForTest(engine);
    const root = metadata("0123456789ab");
    const call = client.updateMemory({ memory: decision("a"), allowMissing: true }, root);
    expect(await refusalOf(call)).toEqual({ code: "failed_precondition", reason: "ROOT_NOT_ATTACHED" });
    expect(await app.memory.counts()).toEqual({ workspaces: 0, records: 0 });
    await client.listMemories({}, root);
    await client.updateCursor({ content: "x" }, root);
  });
});

describe("the steps of an update", () => {
  test("answer in their order, each before all that follow", async () => {
    const { client } = await doorForTest(engine);
    const bad = {
      workspace: { "memoryd-workspace": "A b" },
      time: { "memoryd-if-update-time": "yesterday" },
      root: { "memoryd-root": "0123456789ab" },
    };
    const invalid = { name: "Bad", refs: [] };
    const fieldsOf = async (headers: Record<string, string>, request: object): Promise<unknown> => {
      const { fields, reason, code } = await refusalOf(client.updateMemory(request, { headers }));
      return fields?.[0] ?? reason ?? code;
    };
    const all = { ...bad.workspace, ...bad.time, ...bad.root };
    const mask = { updateMask: { paths: ["a", "b"] } };
    expect(await fieldsOf(all, mask)).toBe("memoryd-workspace");
    expect(await fieldsOf({ ...bad.time, ...bad.root }, mask)).toBe("memoryd-if-update-time");
    expect(await fieldsOf(bad.root, mask)).toBe("ROOT_NOT_ATTACHED");
    // JSON has no spelling for a path with an underscore or a bracket, so these two paths are plain words.
    expect(await fieldsOf({}, mask)).toBe("update_mask.paths[0]");
    expect(await fieldsOf({}, {})).toBe("memory");
    expect(await fieldsOf({}, { memory: invalid })).toBe("memory.name");
    expect(await fieldsOf({}, { memory: decision("a") })).toBe("RECORD_NOT_FOUND");
  });
});

describe("the sweep", () => {
  const dayMs = 24 * 60 * 60 * 1_000;

  /** A name that was deleted at the time 0 or a little later, and a clock that is set to `nowMs`. */
  async function deletedLongAgo(deletedKeepDays: number, nowMs: number): Promise<Stack> {
    let time = 0;
    const stack = await stackForTest(engine, { deletedKeepDays, clock: { nowMs: () => time } });
    await put(stack, { caller: writer }, "a");
    await stack.service.deleteMemory({ caller: writer }, { name: "a", allowMissing: false });
    time = nowMs;
    return stack;
  }

  test("forgets names that were deleted longer ago than the days that are kept", async () => {
    const young = await deletedLongAgo(30, 30 * dayMs + 1);
    expect(await young.service.sweep()).toBe(0);
    const old = await deletedLongAgo(30, 30 * dayMs + 2);
    expect(await old.service.sweep()).toBe(1);
    expect(await old.service.sweep()).toBe(0);
    expect(old.rows("select * from memory_revisions")).toEqual([]);
  });

  test("forgets nothing when deletions are kept for ever", async () => {
    const stack = await deletedLongAgo(0, 100_000 * dayMs);
    expect(await stack.service.sweep()).toBe(0);
    expect(stack.rows("select * from memory_revisions")).toHaveLength(2);
  });
});

test("the workspace of calls that name none is the one of the option", async () => {
  const { client } = await doorForTest(engine, { flags: { "memory.default_workspace": "team" } });
  await client.updateMemory({ memory: decision("a"), allowMissing: true });
  expect((await client.listMemories({}, calling({ workspace: "team" }))).memories).toHaveLength(1);
  expect((await client.listMemories({}, calling({ workspace: "default" }))).memories).toHaveLength(0);
});

test("methods that the contract does not have are unimplemented", async () => {
  const { post } = await doorForTest(engine);
  for (const method of ["GetMemory", "CreateMemory", "listMemories"]) {
    await expect(post(method, "{}")).rejects.toMatchObject({ code: Code.Unimplemented });
  }
});

test("forty callers of five workspaces at once each see their own writes, as soon as they are answered", async () => {
  const { client } = await doorForTest(engine);
  const story = async (number: number): Promise<void> => {
    const options = calling({ workspace: `w-${number % 5}` });
    const name = `name-${number}`;
    const { memory } = await client.updateMemory({ memory: decision(name), allowMissing: true }, options);
    const seen = await client.listMemories({}, options);
    expect(seen.memories).toContainEqual(memory);
    await client.deleteMemory({ name }, options);
    const left = await client.listMemories({}, options);
    expect(left.memories.map((record) => record.name)).not.toContain(name);
  };
  await Promise.all(oneTo(40).map(story));
});
