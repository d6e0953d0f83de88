/**
 * Vectors that need the tables, binary requests or another protocol: MV1, MV11, MV33, MV42 and MV45.
 */
import { create, toBinary } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { MemoryService, MemoryType, UpdateMemoryRequestSchema } from "../../gen/magus/memory/v1/memory_pb.js";
import { WriteConflictSchema } from "../../gen/memoryd/records/v1/records_pb.js";
import { engines } from "./door.js";
import { conflictOf, refusalOf } from "./errors.js";
import { calling, createdMs, decision, oneTo, timeOf } from "./records.js";
import { type Stack, stackForTest } from "./stack.js";

const workspace = "vectors";
const options = calling({ workspace });
const stale = calling({ workspace, ifUpdateTime: "1970-01-01T00:00:00Z" });

const rowsOfAllTables = (stack: Stack): Record<string, unknown> =>
  Object.fromEntries(
    ["workspaces", "records", "refs", "links", "cursors", "revisions"].map((table) => [
      table,
      stack.rows(`select count(*) as rows from memory_${table}`)[0]?.rows,
    ]),
  );

const nothing = { workspaces: 0, records: 0, refs: 0, links: 0, cursors: 0, revisions: 0 };

const put = (stack: Stack, name: string, body = "") =>
  stack.client.updateMemory({ memory: decision(name, { body }), allowMissing: true }, options);

const namesOf = async (stack: Stack): Promise<string[]> =>
  (await stack.client.listMemories({}, options)).memories.map(({ name }) => name);

/** A list with its response metadata. */
async function listWithSkipped(stack: Stack): Promise<{ names: string[]; skipped: string | null }> {
  let skipped: string | null = null;
  const { memories } = await stack.client.listMemories(
    {},
    { ...options, onHeader: (header) => (skipped = header.get("memoryd-skipped-records")) },
  );
  return { names: memories.map(({ name }) => name), skipped };
}

describe.each(engines)("on %s", (engine) => {
  test("MV1 a workspace that is only read leaves no row anywhere", async () => {
    const stack = await stackForTest(engine);
    await stack.client.listMemories({}, options);
    await stack.client.getCursor({}, options);
    await stack.client.deleteMemory({ name: "a", allowMissing: true }, options);
    await refusalOf(stack.client.updateMemory({ memory: decision("a") }, options));
    await refusalOf(
      stack.client.updateMemory({ memory: decision("a", { refs: [] }), allowMissing: true }, options),
    );
    await refusalOf(stack.client.updateCursor({ content: "x" }, stale));
    expect(rowsOfAllTables(stack)).toEqual(nothing);
  });

  test("MV11 bytes that are not UTF-8 are refused and nothing is written", async () => {
    const stack = await stackForTest(engine);
    const request = create(UpdateMemoryRequestSchema, {
      memory: decision("a", { body: "a#b" }),
      allowMissing: true,
    });
    const bytes = toBinary(UpdateMemoryRequestSchema, request);
    bytes[bytes.indexOf("#".charCodeAt(0))] = 0xff;
    const answer = await stack.post("UpdateMemory", bytes, [["memoryd-workspace", workspace]]);
    const { code } = JSON.parse(Buffer.from(answer.body).toString("utf8"));
    expect(["invalid_argument", "internal"]).toContain(code);
    expect(rowsOfAllTables(stack)).toEqual(nothing);
  });

  test("MV11 a request that breaks off is refused and nothing is written", async () => {
    const stack = await stackForTest(engine);
    const request = create(UpdateMemoryRequestSchema, { memory: decision("a"), allowMissing: true });
    const whole = toBinary(UpdateMemoryRequestSchema, request);
    for (const body of [whole.subarray(0, whole.length - 5), '{"memory":{"name":"a"', "[]", "7"]) {
      const answer = await stack.post("UpdateMemory", body, [["memoryd-workspace", workspace]]);
      expect(answer.status).not.toBe(200);
    }
    expect(rowsOfAllTables(stack)).toEqual(nothing);
  });

  test("MV33 a row that no longer reads as a record is left out of the list and counted there", async () => {
    const stack = await stackForTest(engine);
    for (const name of ["a", "b", "c"]) await put(stack, name);
    stack.run("update memory_records set type = 9 where name = 'b'");
    expect(await listWithSkipped(stack)).toEqual({ names: ["a", "c"], skipped: "1" });
    stack.run("update memory_refs set kind = 77 where name = 'a'");
    stack.run("delete from memory_refs where name = 'c'");
    expect(await listWithSkipped(stack)).toEqual({ names: [], skipped: "3" });
  });

  test("MV33 a partial update of such a row is refused, a full one repairs it, a delete removes it", async () => {
    const stack = await stackForTest(engine);
    const { memory } = await put(stack, "a");
    await put(stack, "b");
    stack.run("update memory_records set type = 9");
    const partial = { memory: { name: "a", status: "done" }, updateMask: { paths: ["status"] } };
    expect(await refusalOf(stack.client.updateMemory(partial, options))).toEqual({
      code: "failed_precondition",
      reason: "RECORD_UNREADABLE",
    });
    const repaired = await stack.client.updateMemory({ memory: decision("a", { status: "done" }) }, options);
    expect(createdMs(repaired.memory)).toBe(createdMs(memory));
    expect(await listWithSkipped(stack)).toEqual({ names: ["a"], skipped: "1" });
    await stack.client.deleteMemory({ name: "b" }, options);
    expect(await listWithSkipped(stack)).toEqual({ names: ["a"], skipped: null });
  });

  test("MV33 a precondition on such a row is looked at before what is wrong with it", async () => {
    const stack = await stackForTest(engine);
    const { memory } = await put(stack, "a");
    stack.run("update memory_records set type = 9");
    const partial = { memory: { name: "a", status: "done" }, updateMask: { paths: ["status"] } };
    const { record } = await conflictOf(stack.client.updateMemory(partial, stale));
    expect(record?.memory).toMatchObject({ name: "a", type: MemoryType.UNSPECIFIED, refs: [] });
    expect(record?.memory?.updateTime).toEqual(memory?.updateTime);
    await conflictOf(stack.client.updateMemory({ memory: decision("a") }, stale));
    await conflictOf(stack.client.deleteMemory({ name: "a" }, stale));
    await stack.client.deleteMemory({ name: "a" }, calling({ workspace, ifUpdateTime: timeOf(memory) }));
  });

  test("MV42 a large conflict is cut short over gRPC, where trailers are small, and whole elsewhere", async () => {
    const stack = await stackForTest(engine);
    const body = "b".repeat(60_000);
    const stored = decision("a", { body, status: "active", references: ["b", "c"] });
    const { memory } = await stack.client.updateMemory({ memory: stored, allowMissing: true }, options);
    const over = (protocol: "grpc" | "grpc-web") => createClient(MemoryService, stack.transportOf(protocol));
    const write = (client: Stack["client"]) =>
      conflictOf(client.updateMemory({ memory: decision("a", { status: "other" }) }, stale));
    for (const client of [stack.client, over("grpc-web")]) {
      const whole = await write(client);
      expect(whole.truncated).toBe(false);
      expect(whole.record?.memory).toEqual(memory);
    }
    const short = await write(over("grpc"));
    expect(short.truncated).toBe(true);
    expect(short.record).toMatchObject({ revision: 1n, writer: { user: "tester" } });
    expect(short.record?.memory).toEqual({ ...memory, body: "", refs: [] });
  });

  test("MV42 a small conflict is whole over gRPC too, and a large cursor is cut short", async () => {
    const stack = await stackForTest(engine);
    const client = createClient(MemoryService, stack.transportOf("grpc"));
    const { memory } = await client.updateMemory(
      { memory: decision("a", { body: "b" }), allowMissing: true },
      options,
    );
    const { record, truncated } = await conflictOf(client.deleteMemory({ name: "a" }, stale));
    expect([record?.memory, truncated]).toEqual([memory, false]);
    const content = "c".repeat(5_000);
    await client.updateCursor({ content }, options);
    const short = await conflictOf(client.updateCursor({ content: "d" }, stale));
    expect([short.truncated, short.cursor?.content, short.cursor?.revision]).toEqual([true, "", 2n]);
    const whole = await conflictOf(stack.client.updateCursor({ content: "d" }, stale));
    expect([whole.truncated, whole.cursor?.content]).toEqual([false, content]);
  });

  test("MV42 the longest conflict with as many references as there may be stays small over gRPC", async () => {
    const stack = await stackForTest(engine);
    const name = "n".repeat(128);
    const references = oneTo(64).map((number) => `${"r".repeat(120)}-${number}`);
    await stack.client.updateMemory({ memory: decision(name, { references }), allowMissing: true }, options);
    const client = createClient(MemoryService, stack.transportOf("grpc"));
    const conflict = await conflictOf(client.deleteMemory({ name }, stale));
    expect(conflict).toMatchObject({ truncated: true, record: { memory: { name, refs: [], body: "" } } });
    expect(toBinary(WriteConflictSchema, conflict).length).toBeLessThanOrEqual(4_096);
  });

  test("MV45 writes that the disk has no room for are refused as unavailable, and the next one is fine", async () => {
    const stack = await stackForTest(engine);
    await put(stack, "before");
    const { connection } = stack.database;
    const roomy = connection.pragma("max_page_count", { simple: true });
    connection.pragma(`max_page_count = ${connection.pragma("page_count", { simple: true })}`);
    const before = rowsOfAllTables(stack);
    const large = "x".repeat(60_000);
    const refusals = await Promise.all(
      oneTo(8).map((number) => refusalOf(put(stack, `lost-${number}`, large))),
    );
    for (const refusal of refusals) expect(refusal).toEqual({ code: "unavailable", reason: "DISK_FULL" });
    expect(rowsOfAllTables(stack)).toEqual(before);
    expect(await namesOf(stack)).toEqual(["before"]);
    connection.pragma(`max_page_count = ${roomy}`);
    await put(stack, "lost-1", large);
    expect(await namesOf(stack)).toEqual(["before", "lost-1"]);
    expect(stack.rows("select position from memory_workspaces")).toEqual([{ position: 2 }]);
  });

  test("MV45 a write that is refused in a group takes none of its neighbours with it", async () => {
    const stack = await stackForTest(engine);
    const { memory } = await put(stack, "old");
    const batches: number[] = [];
    stack.database.onBatch((jobs) => batches.push(jobs));
    const neighbours = oneTo(10).map((number) => put(stack, `new-${number}`));
    const refused = [
      refusalOf(stack.client.updateMemory({ memory: decision("gone") }, options)),
      conflictOf(stack.client.deleteMemory({ name: "old" }, stale)),
    ];
    await Promise.all([...neighbours, ...refused]);
    expect(Math.max(...batches)).toBeGreaterThan(2);
    expect((await namesOf(stack)).sort()).toEqual(
      [...oneTo(10).map((number) => `new-${number}`), "old"].sort(),
    );
    expect((await stack.client.listMemories({}, options)).memories.at(-1)).toEqual(memory);
    expect(stack.rows("select position from memory_workspaces")).toEqual([{ position: 11 }]);
  });
});
