/**
 * Many clients at once, each by another protocol, on one daemon: nothing is lost, nothing happens twice (MV21,
 * MV24, MV36, MV44, MV45). The same by many callers in one process: `test/memory/vectors-races.test.ts`.
 */
import { join } from "node:path";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MemoryRefKind, type MemorySchema, MemoryType } from "../../gen/magus/memory/v1/memory_pb.js";
import { WriteConflictSchema } from "../../gen/memoryd/records/v1/records_pb.js";
import { type Daemon, daemonOfFile } from "../support/daemon.js";
import { connectClients, type MemoryClient } from "./crash/writers.js";

const daemon = daemonOfFile(() => ["--max-records", "1000", "--revisions-per-record", "1000"]);
let connected: ReturnType<typeof connectClients>;
beforeAll(() => {
  connected = connectClients(daemon());
});
afterAll(() => connected.close());

const oneTo = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1);
const clientOf = (number: number): MemoryClient =>
  connected.clients[number % connected.clients.length] as MemoryClient;

type MemoryInit = MessageInitShape<typeof MemorySchema>;
const decision = (name: string, body = ""): MemoryInit => ({
  name,
  type: MemoryType.DECISION,
  refs: [{ kind: MemoryRefKind.NODE, target: "file:src/a.ts" }],
  body,
});

const inWorkspace = (workspace: string, ifUpdateTime?: string) => ({
  headers: {
    "memoryd-workspace": workspace,
    ...(ifUpdateTime === undefined ? {} : { "memoryd-if-update-time": ifUpdateTime }),
  },
});

/** Reads the daemon's file beside it; this process has no other business with that file. */
function rows({ folder }: Daemon, sql: string, workspace: string): unknown[] {
  const database = new Database(join(folder, "memoryd.db"), { readonly: true });
  try {
    return database.prepare(sql).raw().all(workspace);
  } finally {
    database.close();
  }
}

const revisions = "select revision from memory_revisions where workspace = ? order by revision";
const counters = "select position, record_count from memory_workspaces where workspace = ?";

/** The codes of the calls that were refused, `undefined` for those that were answered. */
async function codesOf(calls: readonly Promise<unknown>[]): Promise<readonly (Code | undefined)[]> {
  const settled = await Promise.allSettled(calls);
  return settled.map((outcome) =>
    outcome.status === "rejected" ? ConnectError.from(outcome.reason).code : undefined,
  );
}

test("MV44 twenty clients with fifty new names each leave 1,000 records at positions 1 to 1,000", async () => {
  const workspace = "names";
  const client = async (number: number): Promise<void> => {
    for (const count of oneTo(50)) {
      const memory = decision(`client-${number}-${count}`);
      await clientOf(number).updateMemory({ memory, allowMissing: true }, inWorkspace(workspace));
    }
  };
  await Promise.all(oneTo(20).map(client));
  const { memories } = await clientOf(1).listMemories({}, inWorkspace(workspace));
  expect(memories).toHaveLength(1_000);
  expect(rows(daemon(), revisions, workspace)).toEqual(oneTo(1_000).map((revision) => [revision]));
  expect(rows(daemon(), counters, workspace)).toEqual([[1_000, 1_000]]);
});

test("MV36 of forty creates that race for the last ten places exactly ten are answered", async () => {
  const workspace = "full";
  const put = (name: string, number: number): Promise<unknown> =>
    clientOf(number).updateMemory({ memory: decision(name), allowMissing: true }, inWorkspace(workspace));
  await Promise.all(oneTo(990).map((number) => put(`old-${number}`, number)));
  const codes = await codesOf(oneTo(40).map((number) => put(`new-${number}`, number)));
  expect(codes.filter((code) => code === undefined)).toHaveLength(10);
  expect(codes.filter((code) => code === Code.ResourceExhausted)).toHaveLength(30);
  expect(rows(daemon(), counters, workspace)).toEqual([[1_000, 1_000]]);
  await put("old-1", 1);
  await clientOf(2).deleteMemory({ name: "old-2" }, inWorkspace(workspace));
  await put("new-again", 3);
  expect(await codesOf([put("one-too-many", 4)])).toEqual([Code.ResourceExhausted]);
});

test("MV21 five clients that change five fields of one record lose nothing of each other", async () => {
  const workspace = "fields";
  await clientOf(0).updateMemory({ memory: decision("shared"), allowMissing: true }, inWorkspace(workspace));
  const rounds = 100;
  const fields: readonly [path: string, at: (round: number) => MemoryInit][] = [
    ["type", (round) => ({ type: round % 2 === 0 ? MemoryType.PLAN : MemoryType.DECISION })],
    ["refs", (round) => ({ refs: [{ kind: MemoryRefKind.DOC, target: `docs/${round}.md` }] })],
    ["status", (round) => ({ status: `round ${round}` })],
    ["body", (round) => ({ body: `Because of ${round}.` })],
    ["references", (round) => ({ references: [`other-${round}`] })],
  ];
  const change = async ([path, at]: (typeof fields)[number], number: number): Promise<void> => {
    for (const round of oneTo(rounds)) {
      const memory = { name: "shared", ...at(round) };
      await clientOf(number).updateMemory({ memory, updateMask: { paths: [path] } }, inWorkspace(workspace));
    }
  };
  await Promise.all(fields.map(change));
  const { memories } = await clientOf(0).listMemories({}, inWorkspace(workspace));
  expect(memories).toMatchObject([Object.assign({ name: "shared" }, ...fields.map(([, at]) => at(rounds)))]);
  const all = oneTo(1 + fields.length * rounds).map((revision) => [revision]);
  expect(rows(daemon(), revisions, workspace)).toEqual(all);
});

test.each([
  { what: "creates with `absent`", prepares: false },
  { what: "updates with the same time", prepares: true },
])("MV24 of two $what from two connections one is written and the other sees it", async ({ prepares }) => {
  const workspace = "winners";
  for (const round of oneTo(20)) {
    const name = `${prepares ? "updated" : "created"}-${round}`;
    let condition = "absent";
    if (prepares) {
      const { memory } = await clientOf(0).updateMemory(
        { memory: decision(name), allowMissing: true },
        inWorkspace(workspace),
      );
      condition = timestampDate(memory?.updateTime as Timestamp).toISOString();
    }
    const bodies = ["one", "two"];
    const calls = bodies.map((body, index) =>
      clientOf(round + index).updateMemory(
        { memory: decision(name, body), allowMissing: true },
        inWorkspace(workspace, condition),
      ),
    );
    const settled = await Promise.allSettled(calls);
    const winner = settled.findIndex(({ status }) => status === "fulfilled");
    const loser = settled.find(({ status }) => status === "rejected");
    const error = ConnectError.from(loser?.status === "rejected" ? loser.reason : undefined);
    expect(error.code).toBe(Code.Aborted);
    const [conflict] = error.findDetails(WriteConflictSchema);
    expect(conflict?.record?.memory).toMatchObject({ name, body: bodies[winner] });
  }
});

test("MV45 one refused write among many at once leaves its neighbours alone", async () => {
  const workspace = "neighbours";
  await clientOf(0).updateMemory(
    { memory: decision("kept", "first"), allowMissing: true },
    inWorkspace(workspace),
  );
  const calls = oneTo(60).map((number) =>
    number % 3 === 0
      ? clientOf(number).updateMemory({ memory: decision("kept", "x") }, inWorkspace(workspace, "absent"))
      : clientOf(number).updateMemory(
          { memory: decision(`new-${number}`), allowMissing: true },
          inWorkspace(workspace),
        ),
  );
  const codes = await codesOf(calls);
  expect(codes).toEqual(oneTo(60).map((number) => (number % 3 === 0 ? Code.Aborted : undefined)));
  expect(rows(daemon(), counters, workspace)).toEqual([[41, 41]]);
});
