/** Forgetting what was deleted long ago (memory.md M50), and what must be remembered of it (M39, M57). */
import { describe, expect, test } from "vitest";
import { oneTo } from "../../memory/records.js";
import type { OpenStorage } from "../memory-storage.js";
import { namesOf, opened, put, remove, scope, scopeOf, startMs, write } from "./support.js";

const dayMs = 24 * 60 * 60 * 1_000;

export function sweepPromises(open: OpenStorage): void {
  describe("a sweep", () => {
    test("forgets all revisions of names deleted before the time, and no others", async () => {
      const { storage, probe, setClock } = await opened(open);
      for (const name of ["old", "live", "back"]) await put(storage, name);
      await write(storage, "text");
      for (const name of ["old", "back"]) await remove(storage, name);
      setClock(startMs + dayMs);
      await put(storage, "back");
      await put(storage, "young");
      await remove(storage, "young");
      expect(await storage.sweepDeleted(startMs + dayMs)).toBe(1);
      const left = await probe.revisions("here");
      expect(left.map(({ name, kind }) => `${name}:${kind}`)).toEqual([
        "live:1",
        "back:1",
        ":1",
        "back:3",
        "back:1",
        "young:1",
        "young:3",
      ]);
      expect(await namesOf(storage)).toEqual(["back", "live"]);
      expect(await storage.getCursor(scope)).toMatchObject({ content: "text" });
    });

    test("takes only what was deleted before that very time", async () => {
      const { storage } = await opened(open);
      await put(storage, "a");
      await remove(storage, "a");
      const deletedMs = startMs + 1;
      expect(await storage.sweepDeleted(deletedMs)).toBe(0);
      expect(await storage.sweepDeleted(deletedMs + 1)).toBe(1);
      expect(await storage.sweepDeleted(deletedMs + 1)).toBe(0);
    });

    test("remembers in each workspace the highest deletion that went", async () => {
      const { storage, probe } = await opened(open);
      for (const name of ["a", "b", "c"]) await put(storage, name);
      await remove(storage, "b");
      await remove(storage, "a");
      await put(storage, "d");
      await put(storage, "a", {}, scopeOf("there"));
      expect(await probe.workspace("here")).toMatchObject({ trimmedPosition: 0 });
      expect(await storage.sweepDeleted(startMs + dayMs)).toBe(2);
      expect(await probe.workspace("here")).toEqual({ position: 6, trimmedPosition: 5, recordCount: 2 });
      expect(await probe.workspace("there")).toMatchObject({ trimmedPosition: 0 });
      await remove(storage, "d");
      await storage.sweepDeleted(startMs + dayMs);
      expect(await probe.workspace("here")).toMatchObject({ position: 7, trimmedPosition: 7 });
      expect(await storage.sweepDeleted(startMs + dayMs)).toBe(0);
      expect(await probe.workspace("here")).toMatchObject({ position: 7, trimmedPosition: 7 });
    });

    test("takes any number of names of any workspace", async () => {
      const { storage, probe } = await opened(open);
      const workspaces = ["one", "two"];
      const names = oneTo(60).map((number) => `name-${number}`);
      const all = workspaces.flatMap((workspace) => names.map((name) => [scopeOf(workspace), name] as const));
      await Promise.all(all.map(([owner, name]) => put(storage, name, {}, owner)));
      await Promise.all(all.map(([owner, name]) => remove(storage, name, owner)));
      expect(await storage.sweepDeleted(startMs + dayMs)).toBe(120);
      for (const workspace of workspaces) {
        expect(await probe.revisions(workspace)).toEqual([]);
        expect(await probe.workspace(workspace)).toEqual({
          position: 120,
          trimmedPosition: 120,
          recordCount: 0,
        });
      }
    });

    test("takes names with more revisions than a batch has rows", async () => {
      const { storage, probe } = await opened(open, 10_000);
      await Promise.all(oneTo(2_500).map((number) => put(storage, "long", { status: String(number) })));
      await put(storage, "short");
      for (const name of ["long", "short"]) await remove(storage, name);
      expect(await storage.sweepDeleted(startMs + dayMs)).toBe(2);
      expect(await probe.revisions("here")).toEqual([]);
      expect(await probe.workspace("here")).toMatchObject({ position: 2_503, trimmedPosition: 2_503 });
    });

    test("lets positions go on", async () => {
      const { storage } = await opened(open);
      await put(storage, "a");
      await remove(storage, "a");
      await storage.sweepDeleted(startMs + dayMs);
      expect((await put(storage, "a")).revision).toBe(3);
    });

    test("does not let an old time of a forgotten name come again, though the clock steps back", async () => {
      const { storage, setClock } = await opened(open);
      setClock(startMs + dayMs);
      const { updatedMs } = await put(storage, "a");
      await remove(storage, "a");
      expect(await storage.sweepDeleted(startMs + 2 * dayMs)).toBe(1);
      setClock(startMs);
      const again = await put(storage, "a");
      expect(again.updatedMs).toBeGreaterThan(updatedMs + 1);
      expect(again.createdMs).toBe(again.updatedMs);
    });
  });
}
