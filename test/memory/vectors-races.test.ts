/**
 * Vectors of concurrency: MV21, MV24, MV36 and MV44, by many callers at once in one process.
 *
 * Each was seen red with its guard taken away: MV21 with the merge done on a record read before the write,
 * MV24 with the precondition looked at before the write, MV36 with the count read before the write, and MV44
 * with the position taken from a count that was read before the write.
 */
import { describe, expect, test } from "vitest";
import { MemoryRefKind, MemoryType } from "../../gen/magus/memory/v1/memory_pb.js";
import { doorForTest, engines } from "./door.js";
import { conflictOf, refusalOf } from "./errors.js";
import { calling, decision, decisionFields, type MemoryInit, oneTo, timeOf } from "./records.js";
import { type Stack, stackForTest } from "./stack.js";

const workspace = "races";
const options = calling({ workspace });
const scope = { workspace, writer: { user: "tester", agent: "" } };

const revisionNumbers = (stack: Stack): unknown[] =>
  stack.rows("select revision from memory_revisions order by revision").map((row) => row.revision);

/** What a call came to: `undefined` when it was answered. */
async function outcomesOf(calls: readonly Promise<unknown>[]): Promise<unknown[]> {
  const settled = await Promise.allSettled(calls);
  return settled.map((outcome) => (outcome.status === "rejected" ? outcome.reason : undefined));
}

describe.each(engines)("on %s", (engine) => {
  test("MV21 five clients that change five fields of one record lose nothing of each other", async () => {
    const stack = await stackForTest(engine, { revisionsPerRecord: 1_000 });
    await stack.client.updateMemory({ memory: decision("shared"), allowMissing: true }, options);
    const rounds = 100;
    const changes: readonly [path: string, at: (round: number) => MemoryInit][] = [
      ["type", (round) => ({ type: round % 2 === 0 ? MemoryType.PLAN : MemoryType.DECISION })],
      ["refs", (round) => ({ refs: [{ kind: MemoryRefKind.DOC, target: `docs/${round}.md` }] })],
      ["status", (round) => ({ status: `round ${round}` })],
      ["body", (round) => ({ body: `Because of ${round}.` })],
      ["references", (round) => ({ references: [`other-${round}`] })],
    ];
    const client = async ([path, at]: (typeof changes)[number]): Promise<void> => {
      for (const round of oneTo(rounds)) {
        const memory = { name: "shared", ...at(round) };
        await stack.client.updateMemory({ memory, updateMask: { paths: [path] } }, options);
      }
    };
    await Promise.all(changes.map(client));
    const { memories } = await stack.client.listMemories({}, options);
    expect(memories).toMatchObject([
      Object.assign({ name: "shared" }, ...changes.map(([, at]) => at(rounds))),
    ]);
    expect(revisionNumbers(stack)).toEqual(oneTo(1 + 5 * rounds));
  });

  test("MV24 of two creates that race with `absent` one is written and the other sees it", async () => {
    const { client } = await doorForTest(engine);
    for (const round of oneTo(20)) {
      const bodies = ["one", "two"];
      const calls = bodies.map((body) =>
        client.updateMemory(
          { memory: decision(`plan-${round}`, { body }), allowMissing: true },
          calling({ workspace, ifUpdateTime: "absent" }),
        ),
      );
      const [first, second] = await Promise.allSettled(calls);
      expect([first?.status, second?.status].sort()).toEqual(["fulfilled", "rejected"]);
      const winner = first?.status === "fulfilled" ? 0 : 1;
      const { record } = await conflictOf(calls[1 - winner] as Promise<unknown>);
      expect(record?.memory).toMatchObject({ name: `plan-${round}`, body: bodies[winner] });
      expect((await calls[winner])?.memory).toEqual(record?.memory);
    }
  });

  test("MV24 of two updates that race with one time one is written and the other sees it", async () => {
    const { client } = await doorForTest(engine);
    const { memory } = await client.updateMemory({ memory: decision("plan"), allowMissing: true }, options);
    let time = timeOf(memory);
    for (const round of oneTo(20)) {
      const calls = ["one", "two"].map((word) =>
        client.updateMemory(
          { memory: { name: "plan", status: `${word} ${round}` }, updateMask: { paths: ["status"] } },
          calling({ workspace, ifUpdateTime: time }),
        ),
      );
      const [first] = await Promise.allSettled(calls);
      const winner = first?.status === "fulfilled" ? 0 : 1;
      const { record } = await conflictOf(calls[1 - winner] as Promise<unknown>);
      const { memory: written } = (await calls[winner]) ?? {};
      expect(written).toEqual(record?.memory);
      time = timeOf(written);
    }
  });

  test("MV36 a full workspace takes updates and deletes, but no new record", async () => {
    const { client, app } = await doorForTest(engine);
    const cap = app.config.memory.maxRecords;
    expect(cap).toBe(10_000);
    const fields = decisionFields();
    await Promise.all(
      oneTo(cap).map((number) =>
        app.storages.memory.change(scope, `record-${number}`, () => ({ kind: "put", fields })),
      ),
    );
    const create = () => client.updateMemory({ memory: decision("one-more"), allowMissing: true }, options);
    expect(await refusalOf(create())).toEqual({ code: "resource_exhausted", reason: "TOO_MANY_RECORDS" });
    await client.updateMemory({ memory: decision("record-1", { status: "changed" }) }, options);
    await client.updateMemory(
      { memory: decision("other"), allowMissing: true },
      calling({ workspace: "other" }),
    );
    await client.updateCursor({ content: "here" }, options);
    await client.deleteMemory({ name: "record-2" }, options);
    await create();
    expect(await app.memory.counts()).toEqual({ workspaces: 2, records: cap + 1 });
  });

  test("MV36 of forty creates that race for the last ten places ten are written", async () => {
    const { client, app } = await doorForTest(engine, { flags: { "memory.max_records": 60 } });
    const create = (name: string) =>
      client.updateMemory({ memory: decision(name), allowMissing: true }, options);
    await Promise.all(oneTo(50).map((number) => create(`before-${number}`)));
    const calls = oneTo(40).map((number) => create(`race-${number}`));
    const refused = (await outcomesOf(calls)).filter((reason) => reason !== undefined);
    expect(refused).toHaveLength(30);
    for (const reason of refused) {
      expect(await refusalOf(Promise.reject(reason))).toEqual({
        code: "resource_exhausted",
        reason: "TOO_MANY_RECORDS",
      });
    }
    expect((await client.listMemories({}, options)).memories).toHaveLength(60);
    expect(await app.memory.counts()).toEqual({ workspaces: 1, records: 60 });
  });

  test("of writes that race for the last new workspace one is answered, whatever it writes", async () => {
    const { client, app } = await doorForTest(engine, { flags: { "memory.max_workspaces": 3 } });
    const name = (number: number) => calling({ workspace: `w-${number}` });
    const calls = oneTo(20).map((number) =>
      number % 2 === 0
        ? client.updateCursor({ content: "here" }, name(number))
        : client.updateMemory({ memory: decision("a"), allowMissing: true }, name(number)),
    );
    const outcomes = await outcomesOf(calls);
    const refused = outcomes.filter((reason) => reason !== undefined);
    expect(refused).toHaveLength(17);
    for (const reason of refused) {
      expect(await refusalOf(Promise.reject(reason))).toEqual({
        code: "resource_exhausted",
        reason: "TOO_MANY_WORKSPACES",
      });
    }
    expect((await app.memory.counts()).workspaces).toBe(3);
    await client.listMemories({}, name(99));
    const born = 1 + outcomes.indexOf(undefined);
    await client.updateMemory({ memory: decision("b"), allowMissing: true }, name(born));
  });

  test("MV44 twenty clients that write fifty new names each make a thousand records and positions", async () => {
    const stack = await stackForTest(engine);
    await Promise.all(
      oneTo(20).flatMap((client) =>
        oneTo(50).map((number) =>
          stack.client.updateMemory(
            { memory: decision(`client-${client}-${number}`), allowMissing: true },
            options,
          ),
        ),
      ),
    );
    expect((await stack.client.listMemories({}, options)).memories).toHaveLength(1_000);
    expect(revisionNumbers(stack)).toEqual(oneTo(1_000));
    expect(stack.rows("select position, record_count from memory_workspaces")).toEqual([
      { position: 1_000, record_count: 1_000 },
    ]);
  });
});
