/** Outlines of a workspace, and the states of its items whatever is written later. */
import { describe, expect, test } from "vitest";
import type { MemoryStorage } from "../../../src/memory/storage.js";
import type { OutlineItem } from "../../../src/memory/storage-files.js";
import { largestFields, oneTo } from "../../memory/records.js";
import { opened, put, remove, scope, scopeOf, write } from "../memory-storage/support.js";
import type { OpenStorage } from "../memory-storage.js";

/** All states of the items, asked for until they are there. */
async function statesOf(storage: MemoryStorage, items: readonly OutlineItem[]) {
  const states = [];
  while (states.length < items.length) {
    const part = await storage.statesAt(scope, items.slice(states.length));
    expect(part.length).toBeGreaterThan(0);
    states.push(...part);
  }
  return states;
}

export function outlinePromises(open: OpenStorage): void {
  describe("an outline", () => {
    test("of a workspace that does not exist is empty and creates nothing", async () => {
      const { storage, probe } = await opened(open);
      const empty = { epoch: "", position: 0, items: [], cursor: undefined };
      expect(await storage.outline(scope, undefined)).toEqual(empty);
      expect(await probe.workspace("here")).toBeUndefined();
    });

    test("has the names in byte order with their revisions, the cursor and the position", async () => {
      const { storage } = await opened(open);
      for (const name of ["ab", "a0", "a-b", "a"]) await put(storage, name);
      await write(storage, "text");
      await put(storage, "a0");
      await put(storage, "other", {}, scopeOf("there"));
      const outline = await storage.outline(scope, undefined);
      expect(outline).toMatchObject({ position: 6, cursor: "text" });
      expect(outline.epoch).toMatch(/^[0-9a-f]{32}$/);
      expect(outline.items).toEqual([
        { name: "a", revision: 4 },
        { name: "a-b", revision: 3 },
        { name: "a0", revision: 6 },
        { name: "ab", revision: 1 },
      ]);
    });

    test("of some names has those that exist", async () => {
      const { storage } = await opened(open);
      for (const name of ["a", "b", "c"]) await put(storage, name);
      const { items } = await storage.outline(scope, ["a", "c", "d"]);
      expect(items.map(({ name }) => name)).toEqual(["a", "c"]);
    });

    test("has rows that no longer read as records among its items", async () => {
      const { storage, probe } = await opened(open);
      for (const name of ["a", "b"]) await put(storage, name);
      await probe.damage("here", "a", "type");
      const { items } = await storage.outline(scope, undefined);
      expect((await statesOf(storage, items)).map((state) => state?.readable)).toEqual([false, true]);
    });

    test("of thousands of names has each once", async () => {
      const { storage } = await opened(open);
      const names = oneTo(5_001).map((number) => `n${String(number).padStart(4, "0")}`);
      await Promise.all(names.toReversed().map((name) => put(storage, name)));
      const { items } = await storage.outline(scope, undefined);
      expect(items.map(({ name }) => name)).toEqual(names);
    });
  });

  describe("the states of an outline's items", () => {
    test("are what they were, though names are changed, deleted and made again since", async () => {
      const { storage } = await opened(open);
      for (const name of ["changed", "deleted", "remade", "same"]) {
        await put(storage, name, { status: "then", body: name, references: ["x"] });
      }
      const { items } = await storage.outline(scope, undefined);
      const then = await statesOf(storage, items);
      await put(storage, "changed", { status: "now" });
      await remove(storage, "deleted");
      await remove(storage, "remade");
      await put(storage, "remade", { status: "now" });
      expect(await statesOf(storage, items)).toEqual(then);
      expect(then.map((state) => state?.readable === true && state.status)).toEqual(
        oneTo(4).map(() => "then"),
      );
    });

    test("are undefined once they are kept no longer, never the newest ones", async () => {
      const { storage } = await opened(open, 10);
      for (const name of ["redacted", "trimmed"]) await put(storage, name);
      const { items } = await storage.outline(scope, undefined);
      for (const round of oneTo(10)) await put(storage, "trimmed", { status: `${round}` });
      await put(storage, "redacted", { status: "now" });
      await storage.redactRevisions(scope, "redacted");
      expect(await statesOf(storage, items)).toEqual([undefined, undefined]);
    });

    test("come in parts when they are large", async () => {
      const { storage } = await opened(open);
      await Promise.all(oneTo(12).map((number) => put(storage, `n-${number}`, largestFields)));
      const { items } = await storage.outline(scope, undefined);
      expect((await storage.statesAt(scope, items)).length).toBeLessThan(12);
      const names = (await statesOf(storage, items)).map((state) => state?.name);
      expect(names).toEqual(items.map(({ name }) => name));
    });
  });
}
