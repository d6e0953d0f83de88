/** The cursor: as `change`, for one text a workspace. */
import { describe, expect, test } from "vitest";
import { limits, type StoredCursor } from "../../../src/memory/model.js";
import type { Room } from "../../../src/memory/upsert.js";
import { oneTo } from "../../memory/records.js";
import type { OpenStorage } from "../memory-storage.js";
import { keeping, opened, put, scope, scopeOf, startMs, write, writing } from "./support.js";

export function cursorPromises(open: OpenStorage): void {
  describe("the cursor", () => {
    test("that was never written is undefined to a reader and to a decision", async () => {
      const { storage, probe } = await opened(open);
      const shown: (StoredCursor | undefined)[] = [];
      expect(await storage.getCursor(scope)).toBeUndefined();
      const answer = await storage.changeCursor(scope, (stored) => {
        shown.push(stored);
        return keeping();
      });
      expect([...new Set(shown), answer]).toEqual([undefined, undefined]);
      expect(await probe.workspace("here")).toBeUndefined();
    });

    test.each(["", " x\r\n", "\u{1f600}\ufeff", "x".repeat(limits.cursorBytes)])(
      "is answered and read as it was written",
      async (content) => {
        const { storage } = await opened(open);
        const answer = await write(storage, content, scopeOf("here", "ana", "coder"));
        const writer = { user: "ana", agent: "coder" };
        expect(answer).toEqual({ content, updatedMs: startMs, revision: 1, writer });
        expect(await storage.getCursor(scope)).toEqual(answer);
      },
    );

    test("that is written again is replaced", async () => {
      const { storage } = await opened(open);
      await write(storage, "one");
      const two = await write(storage, "two");
      expect(two).toMatchObject({ content: "two", updatedMs: startMs + 1, revision: 2 });
      expect(await storage.getCursor(scope)).toEqual(two);
    });

    test("that is kept is answered as it is with nothing written", async () => {
      const { storage, probe } = await opened(open);
      const stored = await write(storage, "one");
      expect(await storage.changeCursor(scope, keeping)).toEqual(stored);
      expect(await probe.workspace("here")).toMatchObject({ position: 1 });
    });

    test("is not written when a decision throws", async () => {
      const { storage, probe } = await opened(open);
      const stored = await write(storage, "one");
      const own = new Error("not so");
      const throwing = () => {
        throw own;
      };
      await expect(storage.changeCursor(scope, throwing)).rejects.toBe(own);
      await expect(storage.changeCursor(scopeOf("elsewhere"), throwing)).rejects.toBe(own);
      expect(await storage.getCursor(scope)).toEqual(stored);
      expect(await probe.workspace("here")).toMatchObject({ position: 1 });
      expect(await probe.workspace("elsewhere")).toBeUndefined();
    });

    test("shows a decision what is stored at the moment of its write", async () => {
      const { storage } = await opened(open);
      const append = () => storage.changeCursor(scope, (stored) => writing(`${stored?.content ?? ""}x`)());
      await Promise.all(oneTo(40).map(append));
      expect(await storage.getCursor(scope)).toMatchObject({ content: "x".repeat(40), revision: 40 });
    });

    test("is not among the records, nor is a record in its way", async () => {
      const { storage } = await opened(open);
      const rooms: Room[] = [];
      await put(storage, "a");
      await storage.changeCursor(scope, (_stored, room) => {
        rooms.push(room);
        return writing("text")();
      });
      expect(rooms[0]).toEqual({ recordCount: 1, otherWorkspaces: undefined });
      expect(await storage.namesOfLength(scope, 0, 128)).toEqual(["a"]);
      expect(await storage.counts()).toEqual({ workspaces: 1, records: 1 });
    });

    test("of a workspace that is not born yet shows how many others there are", async () => {
      const { storage } = await opened(open);
      const rooms: Room[] = [];
      await write(storage, "text", scopeOf("other"));
      await storage.changeCursor(scope, (_stored, room) => {
        rooms.push(room);
        return keeping();
      });
      expect(rooms[0]).toEqual({ recordCount: 0, otherWorkspaces: 1 });
    });
  });
}
