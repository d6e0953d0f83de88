/** The contract of history on SQLite, and what holds for this engine alone. */
import { readFileSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import { memoryHistoryContract } from "../contracts/memory-history.js";
import { engines } from "./door.js";
import { probeOf } from "./probe.js";
import { decisionFields, oneTo } from "./records.js";
import { stackForTest } from "./stack.js";

for (const engine of engines) {
  memoryHistoryContract(engine, async (options) => {
    const stack = await stackForTest(engine, options);
    return { storage: stack.storage, probe: probeOf(stack) };
  });
}

test("MV61 the old text is in no file once its redaction is answered, also when nothing was left to empty", async () => {
  const { storage, database } = await stackForTest("SQLite on disk", { revisionsPerRecord: 10 });
  const scope = { workspace: "here", writer: { user: "tester", agent: "" } };
  const put = (name: string, body: string, target: string) => {
    const fields = decisionFields({ body, refs: [{ kind: 5, target }], references: [target] });
    return storage.change(scope, name, () => ({ kind: "put", fields }));
  };
  const { name: file } = database.connection;
  for (const round of oneTo(60)) {
    const size = (round * 977) % 9_000;
    await put("secret", `pass${round}word ${"x".repeat(size)}`, `gone-${round}`);
    await Promise.all(oneTo(5).map((n) => put(`other-${(round * n) % 30}`, "y".repeat(size % 700), "kept")));
    await storage.changeCursor(scope, () => ({ kind: "put", fields: `where${round}` }));
  }
  await put("secret", "nothing to see", "kept");
  await storage.changeCursor(scope, () => ({ kind: "put", fields: "here" }));
  expect(await storage.redactRevisions(scope, "secret")).toBe(9);
  expect(await storage.redactCursorRevisions(scope)).toBe(50);
  expect(statSync(`${file}-wal`).size).toBe(0);
  expect(await storage.redactRevisions(scope, "secret")).toBe(0);
  await database.close();
  const text = readFileSync(file, "latin1");
  expect(text.match(/pass\d+word|gone-\d+|where\d+/g)).toBeNull();
  expect(text).toContain("nothing to see");
});
