/** The contract of the memory storage on SQLite, and what holds for this engine alone. */
import { describe, expect, test } from "vitest";
import { memoryStorageContract } from "../contracts/memory-storage.js";
import { engines } from "./door.js";
import { probeOf } from "./probe.js";
import { decisionFields, oneTo } from "./records.js";
import { stackForTest } from "./stack.js";

for (const engine of engines) {
  memoryStorageContract(engine, async (options) => {
    const stack = await stackForTest(engine, options);
    return { storage: stack.storage, probe: probeOf(stack) };
  });
}

describe.each(engines)("on %s", (engine) => {
  test("a sweep writes at most 2,000 rows in one commit, so that requests are heard in between", async () => {
    const stack = await stackForTest(engine, { revisionsPerRecord: 10_000, clock: { nowMs: () => 0 } });
    const scope = { workspace: "here", writer: { user: "tester", agent: "" } };
    const fields = decisionFields();
    const put = (name: string) => stack.storage.change(scope, name, () => ({ kind: "put", fields }));
    await Promise.all(oneTo(4_000).map((number) => put(number % 8 === 0 ? `short-${number}` : "long")));
    const names = stack.rows("select name from memory_records").map(({ name }) => String(name));
    await Promise.all(names.map((name) => stack.storage.change(scope, name, () => ({ kind: "delete" }))));
    const left = (): number => Number(stack.rows("select count(*) as rows from memory_revisions")[0]?.rows);
    const counts = [left()];
    stack.database.onBatch(() => counts.push(left()));
    expect(await stack.storage.sweepDeleted(1_000_000)).toBe(501);
    expect([counts[0], counts.at(-1)]).toEqual([4_501, 0]);
    const steps = counts.slice(1).map((count, index) => (counts[index] ?? 0) - count);
    expect(Math.max(...steps)).toBeLessThanOrEqual(2_000);
  });

  test("each workspace has an epoch of its own from its birth on", async () => {
    const stack = await stackForTest(engine);
    for (const workspace of ["one", "two", "one"]) {
      await stack.storage.changeCursor({ workspace, writer: { user: "tester", agent: "" } }, () => ({
        kind: "put",
        fields: "text",
      }));
    }
    const epochs = stack.rows("select epoch from memory_workspaces").map(({ epoch }) => epoch);
    expect(new Set(epochs).size).toBe(2);
    for (const epoch of epochs) expect(epoch).toMatch(/^[0-9a-f]{32}$/);
  });
});
