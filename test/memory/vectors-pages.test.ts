/** Vectors of long lists: MV29, MV30 and MV32, with the limits of one answer (memory.md M18, M31, M32). */
import { toBinary, toJson } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { ListMemoriesResponseSchema, MemorySchema } from "../../gen/magus/memory/v1/memory_pb.js";
import { createFolder, type Door, doorForTest, engines, openDoor, removeFolder } from "./door.js";
import { calling, decision, decisionFields, largestFields, longName, oneTo } from "./records.js";

const workspace = "pages";
const options = calling({ workspace });
const scope = { workspace, writer: { user: "tester", agent: "" } };

/** Names in the order of a list. */
const nameAt = (number: number): string => `record-${String(number).padStart(4, "0")}`;

const fill = async ({ app }: Door, count: number, fields = decisionFields()): Promise<void> => {
  await Promise.all(
    oneTo(count).map((number) =>
      app.storages.memory.change(scope, nameAt(number), () => ({ kind: "put", fields })),
    ),
  );
};

describe.each(engines)("on %s", (engine) => {
  test("MV29 a page has the records that were asked for, a thousand at most, and all that fit without a size", async () => {
    const door = await doorForTest(engine);
    await fill(door, 1_200);
    const page = async (pageSize: number, pageToken = "") =>
      door.client.listMemories({ pageSize, pageToken }, options);
    const all = await page(0);
    expect(all.memories.map(({ name }) => name)).toEqual(oneTo(1_200).map(nameAt));
    expect(all.nextPageToken).toBe("");
    const most = await page(5_000);
    expect(most.memories).toEqual(all.memories.slice(0, 1_000));
    const rest = await page(2_147_483_647, most.nextPageToken);
    expect(rest.memories).toEqual(all.memories.slice(1_000));
    expect(rest.nextPageToken).toBe("");
    expect((await page(1_000)).memories).toHaveLength(1_000);
    expect((await page(999)).memories).toHaveLength(999);
  });

  test("MV30 ten of the largest records come as pages of six and four, each within the limit of an answer", async () => {
    const door = await doorForTest(engine);
    for (const number of oneTo(10)) {
      const memory = { ...decision(longName(`record-${number}`)), ...largestFields };
      const answer = await door.client.updateMemory(
        {
          memory: { ...memory, refs: [...memory.refs], references: [...memory.references] },
          allowMissing: true,
        },
        options,
      );
      const stored = answer.memory ?? expect.fail("no record");
      expect(toBinary(MemorySchema, stored).length).toBeLessThanOrEqual(336_807);
    }
    const first = await door.client.listMemories({}, options);
    const second = await door.client.listMemories({ pageToken: first.nextPageToken }, options);
    expect([first.memories.length, second.memories.length]).toEqual([6, 4]);
    expect(second.nextPageToken).toBe("");
    for (const page of [first, second]) {
      expect(toBinary(ListMemoriesResponseSchema, page).length).toBeLessThanOrEqual(2_097_152);
      const json = JSON.stringify(toJson(ListMemoriesResponseSchema, page));
      expect(Buffer.byteLength(json)).toBeLessThanOrEqual(4 * 1_024 * 1_024);
    }
    const capped = await door.client.listMemories({ pageSize: 1_000 }, options);
    expect(capped.memories).toHaveLength(6);
  });

  test("MV32 a token works with other page sizes, and every record is seen once", async () => {
    const door = await doorForTest(engine);
    await fill(door, 57);
    const seen: string[] = [];
    let pageToken = "";
    for (const pageSize of [1, 2, 3, 5, 8, 13, 21, 34]) {
      const page = await door.client.listMemories({ pageSize, pageToken }, options);
      seen.push(...page.memories.map(({ name }) => name));
      pageToken = page.nextPageToken;
      if (pageToken === "") break;
    }
    expect(seen).toEqual(oneTo(57).map(nameAt));
    expect(pageToken).toBe("");
  });
});

test("MV32 a token outlives a restart", async () => {
  const folder = createFolder();
  const before = await openDoor("SQLite on disk", { folder });
  await fill(before, 5);
  const { nextPageToken } = await before.client.listMemories({ pageSize: 2 }, options);
  await before.close();
  const after = await openDoor("SQLite on disk", { folder });
  const { memories } = await after.client.listMemories({ pageSize: 50, pageToken: nextPageToken }, options);
  await after.close();
  removeFolder(folder);
  expect(memories.map(({ name }) => name)).toEqual([3, 4, 5].map(nameAt));
});

test("MV32 a token works on another daemon that has the same records", async () => {
  const [here, there] = [await doorForTest("SQLite in memory"), await doorForTest("SQLite on disk")];
  await Promise.all([fill(here, 5), fill(there, 5)]);
  const { nextPageToken } = await here.client.listMemories({ pageSize: 2 }, options);
  const { memories } = await there.client.listMemories({ pageToken: nextPageToken }, options);
  expect(memories.map(({ name }) => name)).toEqual([3, 4, 5].map(nameAt));
});
