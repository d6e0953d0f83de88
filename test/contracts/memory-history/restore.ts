/** Restore: which revision is shown to the decision, and what the write makes of the record (memory.md M55). */
import { describe, expect, test } from "vitest";
import { oneTo } from "../../memory/records.js";
import { opened, put, readable, remove, scope, startMs } from "../memory-storage/support.js";
import type { OpenStorage } from "../memory-storage.js";
import { foundBy, restoring, revisionsOf } from "./support.js";

const restored = 4;

export function restorePromises(open: OpenStorage): void {
  describe("a restore", () => {
    test("shows the revision that was asked for, and no other name's", async () => {
      const { storage } = await opened(open);
      await put(storage, "a", { status: "one" });
      await put(storage, "b", { status: "two" });
      await put(storage, "a", { status: "three" });
      expect((await foundBy(storage, "a", 1)).revision?.record?.status).toBe("one");
      expect(await foundBy(storage, "a", 2)).toEqual({ isKnown: true, revision: undefined });
      expect(await foundBy(storage, "a", 99)).toEqual({ isKnown: true, revision: undefined });
      expect(await foundBy(storage, "c", 1)).toEqual({ isKnown: false, revision: undefined });
    });

    test("of 0 shows the newest with content before the current state", async () => {
      const { storage } = await opened(open);
      const found = async () => (await foundBy(storage, "a", 0)).revision?.record?.status;
      await put(storage, "a", { status: "one" });
      expect(await found()).toBeUndefined();
      await put(storage, "a", { status: "two" });
      expect(await found()).toBe("one");
      await remove(storage, "a");
      expect(await found()).toBe("two");
      await put(storage, "a", { status: "three" });
      expect(await found()).toBe("two");
    });

    test("brings a deleted record back under its old create time, at a newer time", async () => {
      const { storage, setClock } = await opened(open);
      const first = await put(storage, "a", { status: "one", body: "why" });
      await remove(storage, "a");
      setClock(startMs + 1_000);
      const back = readable(await storage.restore(scope, "a", 0, restoring));
      expect(back).toEqual({ ...first, updatedMs: startMs + 1_000, revision: 3 });
      expect(await storage.get(scope, "a")).toEqual(back);
    });

    test("of a live record keeps its create time, and is a revision of its own kind", async () => {
      const { storage, probe } = await opened(open);
      await put(storage, "a", { status: "one" });
      await remove(storage, "a");
      const again = await put(storage, "a", { status: "two" });
      const back = readable(await storage.restore(scope, "a", 1, restoring));
      expect([back.status, back.createdMs]).toEqual(["one", again.createdMs]);
      const [newest] = (await revisionsOf(storage, "a"))?.revisions ?? [];
      expect(newest).toMatchObject({ revision: 4, kind: restored, record: back });
      expect(await probe.workspace("here")).toMatchObject({ position: 4, recordCount: 1 });
    });

    test("sees what is stored and writes in one transaction", async () => {
      const { storage } = await opened(open);
      await put(storage, "a", { status: "0" });
      const restores = oneTo(20).map(() =>
        storage.restore(scope, "a", 0, ({ revision }, stored) => {
          const status = String(Number(readable(stored).status) + 1);
          const fields = { ...readable(stored), status };
          return { kind: "put", fields, origin: { change: "restored", createdMs: revision?.atMs } };
        }),
      );
      await Promise.all(restores);
      expect(readable(await storage.get(scope, "a")).status).toBe("20");
    });

    test("writes nothing when its decision throws", async () => {
      const { storage, probe } = await opened(open);
      await put(storage, "a");
      const failing = () => {
        throw new Error("not so");
      };
      await expect(storage.restore(scope, "a", 1, failing)).rejects.toThrow("not so");
      expect(await probe.workspace("here")).toMatchObject({ position: 1 });
    });
  });
}
