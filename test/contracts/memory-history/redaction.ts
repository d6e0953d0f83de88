/** Redaction: which revisions lose their content, and what stays of them (memory.md M51). */
import { describe, expect, test } from "vitest";
import { opened, put, remove, scope, scopeOf, write } from "../memory-storage/support.js";
import type { OpenStorage } from "../memory-storage.js";
import { cursorsOf, foundBy, revisionsOf } from "./support.js";

export function redactionPromises(open: OpenStorage): void {
  describe("a redaction", () => {
    test("empties all revisions of a name but the live one", async () => {
      const { storage, probe } = await opened(open);
      for (const status of ["one", "two", "three"]) await put(storage, "a", { status });
      await put(storage, "b");
      await put(storage, "a", {}, scopeOf("there"));
      const before = await probe.revisions("here");
      expect(await storage.redactRevisions(scope, "a")).toBe(2);
      const after = await probe.revisions("here");
      expect(after).toEqual(before.map((row, index) => (index < 2 ? { ...row, content: null } : row)));
      expect(await probe.revisions("there")).toMatchObject([{ content: { type: 2 } }]);
      const { revisions = [] } = (await revisionsOf(storage, "a")) ?? {};
      expect(revisions.map(({ isRedacted, record }) => [isRedacted, record?.status])).toEqual([
        [false, "three"],
        [true, undefined],
        [true, undefined],
      ]);
    });

    test("empties the newest too once the name is deleted; a deletion has nothing to empty", async () => {
      const { storage } = await opened(open);
      await put(storage, "a");
      await remove(storage, "a");
      expect(await storage.redactRevisions(scope, "a")).toBe(1);
      const { revisions = [] } = (await revisionsOf(storage, "a")) ?? {};
      expect(revisions.map(({ isRedacted }) => isRedacted)).toEqual([false, true]);
      expect(await foundBy(storage, "a", 0)).toEqual({ isKnown: true, revision: undefined });
    });

    test("leaves an unreadable record its newest revision", async () => {
      const { storage, probe } = await opened(open);
      await put(storage, "a", { status: "one" });
      await put(storage, "a", { status: "two" });
      await probe.damage("here", "a", "type");
      expect(await storage.redactRevisions(scope, "a")).toBe(1);
      expect((await foundBy(storage, "a", 2)).revision?.record?.status).toBe("two");
    });

    test("counts nothing the second time, and knows no name that was never written", async () => {
      const { storage } = await opened(open);
      await put(storage, "a");
      await put(storage, "a");
      expect(await storage.redactRevisions(scope, "a")).toBe(1);
      expect(await storage.redactRevisions(scope, "a")).toBe(0);
      expect(await storage.redactRevisions(scope, "b")).toBeUndefined();
      expect(await storage.redactRevisions(scopeOf("there"), "a")).toBeUndefined();
    });

    test("changes neither what is stored nor the workspace's position", async () => {
      const { storage, probe } = await opened(open);
      await put(storage, "a");
      const record = await put(storage, "a", { status: "done" });
      const facts = await probe.workspace("here");
      await storage.redactRevisions(scope, "a");
      expect(await storage.get(scope, "a")).toEqual(record);
      expect(await probe.workspace("here")).toEqual(facts);
    });

    test("of the cursor empties all values but the live one", async () => {
      const { storage } = await opened(open);
      expect(await storage.redactCursorRevisions(scope)).toBe(0);
      await put(storage, "a");
      for (const text of ["one", "two", "three"]) await write(storage, text);
      expect(await storage.redactCursorRevisions(scope)).toBe(2);
      expect((await cursorsOf(storage)).map(({ content, isRedacted }) => [content, isRedacted])).toEqual([
        ["three", false],
        ["", true],
        ["", true],
      ]);
      expect((await storage.getCursor(scope))?.content).toBe("three");
      expect(await storage.redactCursorRevisions(scope)).toBe(0);
    });
  });
}
