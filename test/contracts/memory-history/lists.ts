/** Reading by name and by position: what is stored under many names, and kept revisions newest first. */
import { describe, expect, test } from "vitest";
import { recordTypes, refKinds } from "../../../src/memory/model.js";
import type { Stored } from "../../../src/memory/upsert.js";
import { decisionFields, largestFields, oneTo } from "../../memory/records.js";
import { opened, put, remove, scope, scopeOf, startMs, write } from "../memory-storage/support.js";
import type { OpenStorage } from "../memory-storage.js";
import { cursorsOf, revisionsOf } from "./support.js";

const [created, updated, deleted] = [1, 2, 3];

export function revisionListPromises(open: OpenStorage): void {
  describe("what is stored under several names", () => {
    test("is shown in the order of the names, absent and unreadable ones too", async () => {
      const { storage, probe } = await opened(open);
      for (const name of ["a", "b", "c"]) await put(storage, name, { status: name });
      await put(storage, "c", { status: "elsewhere" }, scopeOf("there"));
      await probe.damage("here", "b", "type");
      const seen: [string, Stored | undefined][] = [];
      await storage.getEach(scope, ["c", "gone", "b", "a"], (name, stored) => void seen.push([name, stored]));
      expect(seen.map(([name]) => name)).toEqual(["c", "gone", "b", "a"]);
      expect(seen.map(([, stored]) => stored?.readable)).toEqual([true, undefined, false, true]);
      expect(seen[0]?.[1]).toEqual(await storage.get(scope, "c"));
    });

    test("is one state, whatever is written meanwhile", async () => {
      const { storage } = await opened(open);
      const names = oneTo(40).map((number) => `n-${number}`);
      for (const name of names) await put(storage, name, { ...largestFields, status: "old" });
      const writes: Promise<unknown>[] = [];
      const statuses = new Set<string>();
      await storage.getEach(scope, names, (name, stored) => {
        if (stored?.readable === true) statuses.add(stored.status);
        const last = names.at(-1) ?? "";
        if (name === names[0]) writes.push(put(storage, last, { ...largestFields, status: "new" }));
      });
      await Promise.all(writes);
      expect([...statuses]).toEqual(["old"]);
    });
  });

  describe("the kept revisions of a name", () => {
    test("come newest first, each as the record was after it", async () => {
      const { storage, setClock } = await opened(open);
      const fields = decisionFields({
        type: recordTypes.plan,
        refs: [{ kind: refKinds.doc, target: "docs/a.md" }],
        status: "active",
        body: "why \u{1f600}",
        references: ["b", "a"],
      });
      const first = await put(storage, "a", fields, scopeOf("here", "ana", "coder"));
      setClock(startMs + 10);
      const second = await put(storage, "a", { ...fields, status: "done" });
      await put(storage, "other");
      await remove(storage, "a", scopeOf("here", "cyn"));
      const page = await revisionsOf(storage, "a");
      expect(page?.nextBefore).toBeUndefined();
      expect(page?.revisions).toEqual([
        {
          revision: 4,
          kind: deleted,
          atMs: startMs + 11,
          writer: { user: "cyn", agent: "" },
          record: undefined,
          isRedacted: false,
        },
        {
          revision: 2,
          kind: updated,
          atMs: startMs + 10,
          writer: { user: "tester", agent: "" },
          record: second,
          isRedacted: false,
        },
        {
          revision: 1,
          kind: created,
          atMs: startMs,
          writer: { user: "ana", agent: "coder" },
          record: first,
          isRedacted: false,
        },
      ]);
    });

    test("are answered in pages that join without a gap", async () => {
      const { storage } = await opened(open);
      for (const round of oneTo(7)) {
        await put(storage, "a", { status: String(round) });
        await put(storage, "b");
      }
      const statuses: (string | undefined)[] = [];
      let before: number | undefined;
      for (const _page of oneTo(4)) {
        const page = await revisionsOf(storage, "a", { before, most: 2 });
        statuses.push(...(page?.revisions ?? []).map(({ record }) => record?.status));
        before = page?.nextBefore;
      }
      expect(statuses).toEqual(["7", "6", "5", "4", "3", "2", "1"]);
      expect(before).toBeUndefined();
    });

    test("end with the newest that the page refuses, and begin with it in the next", async () => {
      const { storage } = await opened(open);
      for (const _round of oneTo(3)) await put(storage, "a");
      const page = await revisionsOf(storage, "a", { most: 2 });
      expect(page?.nextBefore).toBe(2);
      const next = await revisionsOf(storage, "a", { before: 2 });
      expect(next?.revisions.map(({ revision }) => revision)).toEqual([1]);
    });

    test("are absent for a name that was never written, and in another workspace", async () => {
      const { storage } = await opened(open);
      await put(storage, "a");
      await write(storage, "text");
      expect(await revisionsOf(storage, "b")).toBeUndefined();
      expect(await revisionsOf(storage, "a", {}, scopeOf("there"))).toBeUndefined();
    });

    test("are an empty page when all that are kept were seen before", async () => {
      const { storage } = await opened(open, 10);
      for (const _round of oneTo(30)) await put(storage, "a");
      expect(await revisionsOf(storage, "a", { before: 5 })).toEqual({
        nextBefore: undefined,
        revisions: [],
      });
    });
  });

  test("the values of the cursor come newest first, the live one among them", async () => {
    const { storage } = await opened(open);
    expect(await cursorsOf(storage)).toEqual([]);
    for (const text of ["one", "", "three"]) await write(storage, text);
    const cursors = await cursorsOf(storage);
    expect(cursors.map(({ content }) => content)).toEqual(["three", "", "one"]);
    expect(cursors[0]).toEqual({ ...(await storage.getCursor(scope)), isRedacted: false });
  });
}
