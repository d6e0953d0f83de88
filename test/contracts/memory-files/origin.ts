/** Writes that say where they come from: their times, their kind and the unknown keys that stay with a record. */
import { describe, expect, test } from "vitest";
import { extraFromEntries, noExtra } from "../../../src/memory/extra.js";
import { changeKinds } from "../../../src/memory/schema.js";
import type { MemoryStorage } from "../../../src/memory/storage.js";
import type { Origin } from "../../../src/memory/upsert.js";
import { decisionFields } from "../../memory/records.js";
import { opened, put, readable, remove, scope, startMs } from "../memory-storage/support.js";
import type { OpenStorage } from "../memory-storage.js";

const extra = extraFromEntries([
  ["owner", '"ana"'],
  ["version", "1.10"],
]);

const bring = async (storage: MemoryStorage, name: string, origin: Origin, status = "") =>
  readable(
    await storage.change(scope, name, () => ({ kind: "put", fields: decisionFields({ status }), origin })),
  );

export function originPromises(open: OpenStorage): void {
  describe("an imported record", () => {
    test("that is new has the times and keys of its file, and its revision says so", async () => {
      const { storage, probe } = await opened(open);
      const origin: Origin = { change: "imported", extra, createdMs: 1_000, updatedMs: 2_000 };
      const facts = { createdMs: 1_000, updatedMs: 2_000, extra, revision: 1 };
      expect(await bring(storage, "a", origin)).toMatchObject(facts);
      expect(await storage.get(scope, "a")).toMatchObject(facts);
      const [revision] = await probe.revisions("here");
      expect(revision).toMatchObject({
        kind: changeKinds.imported,
        atMs: 2_000,
        content: { extra, created_ms: 1_000 },
      });
    });

    test("never has a time that its name had before", async () => {
      const { storage } = await opened(open);
      await put(storage, "a");
      await remove(storage, "a");
      const origin: Origin = { change: "imported", createdMs: 1_000, updatedMs: 2_000 };
      expect(await bring(storage, "a", origin)).toMatchObject({ createdMs: 1_000, updatedMs: startMs + 2 });
    });

    test("that replaces one keeps its create time", async () => {
      const { storage, setClock } = await opened(open);
      await put(storage, "a");
      setClock(startMs + 5_000);
      expect(await bring(storage, "a", { change: "imported", createdMs: 1_000 })).toMatchObject({
        createdMs: startMs,
        updatedMs: startMs + 5_000,
      });
    });
  });

  test("a cursor that was imported says so in its revision", async () => {
    const { storage, probe } = await opened(open);
    await storage.changeCursor(scope, () => ({ kind: "put", fields: "x", origin: { change: "imported" } }));
    expect((await probe.revisions("here")).map(({ kind }) => kind)).toEqual([changeKinds.imported]);
  });

  describe("unknown keys", () => {
    test("stay through updates, and go when an import has none", async () => {
      const { storage } = await opened(open);
      await bring(storage, "a", { change: "imported", extra });
      expect((await put(storage, "a", { status: "done" })).extra).toBe(extra);
      expect(await storage.get(scope, "a")).toMatchObject({ extra, status: "done" });
      expect((await bring(storage, "a", { change: "imported", extra: noExtra })).extra).toBe(noExtra);
    });

    test("stay when a damaged row is replaced", async () => {
      const { storage, probe } = await opened(open);
      await bring(storage, "a", { change: "imported", extra });
      await probe.damage("here", "a", "type");
      expect((await put(storage, "a")).extra).toBe(extra);
    });

    test("go with a record that is deleted, and do not come with one that is made anew", async () => {
      const { storage } = await opened(open);
      await bring(storage, "a", { change: "imported", extra });
      await remove(storage, "a");
      expect((await put(storage, "a")).extra).toBe(noExtra);
    });
  });
}
