/** Single records: absence, what a decision sees and does, atomic changes, damaged rows, isolation. */
import { describe, expect, test } from "vitest";
import { MemorydError } from "../../../src/kernel/errors.js";
import { noExtra } from "../../../src/memory/extra.js";
import { recordTypes, refKinds } from "../../../src/memory/model.js";
import type { Room, Stored } from "../../../src/memory/upsert.js";
import { decisionFields, largestFields, oneTo } from "../../memory/records.js";
import type { OpenStorage } from "../memory-storage.js";
import {
  deleting,
  keeping,
  listed,
  namesOf,
  opened,
  put,
  putting,
  readable,
  remove,
  scope,
  scopeOf,
  startMs,
  write,
} from "./support.js";

export function recordPromises(open: OpenStorage): void {
  describe("a record", () => {
    test("that is absent is undefined to a reader and to a decision", async () => {
      const { storage } = await opened(open);
      const shown: (Stored | undefined)[] = [];
      expect(await storage.get(scope, "a")).toBeUndefined();
      const answer = await storage.change(scope, "a", (stored) => {
        shown.push(stored);
        return keeping();
      });
      expect([...new Set(shown), answer]).toEqual([undefined, undefined]);
    });

    test("is answered, read and listed with every field as it was put", async () => {
      const { storage } = await opened(open);
      const fields = decisionFields({
        type: recordTypes.plan,
        refs: [
          { kind: refKinds.command, target: '  it\'s "quoted" \\ % _ ; -- ' },
          { kind: refKinds.doc, target: "\u{1f600}\ufeff\u202e" },
          { kind: refKinds.command, target: '  it\'s "quoted" \\ % _ ; -- ' },
        ],
        status: " Stale ",
        body: "e\u0301 and \u00e9\r\n\tend",
        references: ["z", "a", "z"],
      });
      const answer = await storage.change(scope, "a", () => ({ kind: "put", fields }));
      expect(answer).toEqual({
        readable: true,
        name: "a",
        ...fields,
        createdMs: startMs,
        extra: noExtra,
        updatedMs: startMs,
        revision: 1,
        writer: { user: "tester", agent: "" },
      });
      expect(await storage.get(scope, "a")).toEqual(answer);
      expect((await listed(storage)).records).toEqual([answer]);
    });

    test("may be as large as a record can be", async () => {
      const { storage } = await opened(open);
      const answer = await put(storage, "a", largestFields);
      expect(answer).toMatchObject(largestFields);
      expect(await storage.get(scope, "a")).toEqual(answer);
    });

    test("that is put again is replaced whole and keeps its create time", async () => {
      const { storage, setClock } = await opened(open);
      const many = [1, 2, 3].map((number) => ({ kind: refKinds.doc, target: `t${number}` }));
      await put(storage, "a", { refs: many, references: ["b", "c"], body: "b", status: "s" });
      setClock(startMs + 5_000);
      const less = await put(storage, "a", { refs: [many[2] as (typeof many)[0]] });
      expect(less).toMatchObject({ ...decisionFields({ refs: [{ kind: refKinds.doc, target: "t3" }] }) });
      expect([less.createdMs, less.updatedMs, less.revision]).toEqual([startMs, startMs + 5_000, 2]);
      expect(await storage.get(scope, "a")).toEqual(less);
      const more = await put(storage, "a", { refs: many, references: ["d"] });
      expect(await storage.get(scope, "a")).toEqual(more);
      expect((await listed(storage)).records).toEqual([more]);
    });

    test("that is put again with other refs in the same number shows the new ones", async () => {
      const { storage } = await opened(open);
      const ref = (kind: 1 | 2, target: string) => ({ kind, target });
      await put(storage, "a", { refs: [ref(1, "x"), ref(1, "y")], references: ["b", "c"] });
      await put(storage, "a", { refs: [ref(1, "y"), ref(1, "x")], references: ["c", "b"] });
      const stored = await storage.get(scope, "a");
      expect(stored).toMatchObject({ refs: [ref(1, "y"), ref(1, "x")], references: ["c", "b"] });
      await put(storage, "a", { refs: [ref(2, "y"), ref(1, "x")], references: ["c", "b"] });
      expect(await storage.get(scope, "a")).toMatchObject({ refs: [ref(2, "y"), ref(1, "x")] });
    });

    test("that is deleted is gone, and comes back with nothing of before", async () => {
      const { storage } = await opened(open);
      await put(storage, "a", { status: "old", body: "old", references: ["b", "c"] });
      expect(await remove(storage, "a")).toBeUndefined();
      expect(await storage.get(scope, "a")).toBeUndefined();
      expect(await namesOf(storage)).toEqual([]);
      const again = await put(storage, "a");
      expect(again).toMatchObject(decisionFields());
      expect(again.createdMs).toBe(again.updatedMs);
      expect(await storage.get(scope, "a")).toEqual(again);
    });

    test("that is kept, or deleted though absent, is answered as it is with nothing written", async () => {
      const { storage, probe } = await opened(open);
      expect(await storage.change(scope, "a", keeping)).toBeUndefined();
      expect(await storage.change(scope, "a", deleting)).toBeUndefined();
      expect(await probe.workspace("here")).toBeUndefined();
      const stored = await put(storage, "a");
      expect(await storage.change(scope, "a", keeping)).toEqual(stored);
      expect(await storage.change(scope, "b", deleting)).toBeUndefined();
      expect(await storage.get(scope, "a")).toEqual(stored);
      expect(await probe.workspace("here")).toMatchObject({ position: 1, recordCount: 1 });
    });

    test("says who wrote it last", async () => {
      const { storage } = await opened(open);
      await put(storage, "a", {}, scopeOf("here", "ana", "coder"));
      expect((await storage.get(scope, "a"))?.writer).toEqual({ user: "ana", agent: "coder" });
      await put(storage, "a", {}, scopeOf("here", "ben"));
      expect((await storage.get(scope, "a"))?.writer).toEqual({ user: "ben", agent: "" });
    });
  });

  describe("a decision", () => {
    test("that throws reaches the caller as it is, with nothing written and its neighbours unharmed", async () => {
      const { storage, probe } = await opened(open);
      const own = new MemorydError("failed_precondition", "Not so.", { current: { any: "thing" } });
      const stored = await put(storage, "a");
      const throwing = () => {
        throw own;
      };
      const [before, failed, fresh, after] = await Promise.allSettled([
        put(storage, "b"),
        storage.change(scope, "a", throwing),
        storage.change(scopeOf("elsewhere"), "a", throwing),
        put(storage, "c"),
      ]);
      expect([before.status, after.status]).toEqual(["fulfilled", "fulfilled"]);
      expect(failed).toEqual({ status: "rejected", reason: own });
      expect(failed.status === "rejected" && failed.reason).toBe(own);
      expect(fresh.status).toBe("rejected");
      expect(await storage.get(scope, "a")).toEqual(stored);
      expect(await probe.workspace("elsewhere")).toBeUndefined();
      expect(await probe.workspace("here")).toMatchObject({ position: 3, recordCount: 3 });
    });

    test("sees what is stored at the moment of its write, however many write at once", async () => {
      const { storage } = await opened(open);
      const increment = () =>
        storage.change(scope, "counter", (stored) => {
          const before = stored?.readable === true ? Number(stored.status) : 0;
          return { kind: "put", fields: decisionFields({ status: String(before + 1) }) };
        });
      const answers = await Promise.all(oneTo(40).map(increment));
      expect(answers.map((stored) => Number(readable(stored).status)).sort((a, b) => a - b)).toEqual(
        oneTo(40),
      );
      expect(await storage.get(scope, "counter")).toMatchObject({ status: "40", revision: 40 });
    });

    test("sees how many records the workspace has, and how many others there are while it is not born", async () => {
      const { storage } = await opened(open);
      const rooms: Room[] = [];
      const look = async (workspace: string): Promise<Room | undefined> => {
        await storage.change(scopeOf(workspace), "x", (_stored, room) => {
          rooms.push(room);
          return keeping();
        });
        return rooms.at(-1);
      };
      expect(await look("here")).toEqual({ recordCount: 0, otherWorkspaces: 0 });
      await put(storage, "a");
      await put(storage, "b");
      await put(storage, "b");
      await write(storage, "text", scopeOf("there"));
      expect(await look("here")).toEqual({ recordCount: 2, otherWorkspaces: undefined });
      expect(await look("there")).toEqual({ recordCount: 0, otherWorkspaces: undefined });
      expect(await look("nowhere")).toEqual({ recordCount: 0, otherWorkspaces: 2 });
      await remove(storage, "a");
      expect(await look("here")).toEqual({ recordCount: 1, otherWorkspaces: undefined });
    });

    test("on a full count is exact though forty create at once", async () => {
      const { storage, probe } = await opened(open);
      const creating = (name: string) =>
        storage.change(scope, name, (_stored, room) => (room.recordCount < 10 ? putting()() : keeping()));
      await Promise.all(oneTo(40).map((number) => creating(`name-${number}`)));
      expect(await namesOf(storage)).toHaveLength(10);
      expect(await probe.workspace("here")).toMatchObject({ position: 10, recordCount: 10 });
    });
  });

  describe("a row that does not read as a record", () => {
    test.each(["type", "kind", "refs"] as const)(
      "for its %s is shown as unreadable with its facts",
      async (part) => {
        const { storage, probe } = await opened(open);
        const { name, createdMs, updatedMs, revision, extra, writer } = await put(storage, "a", {
          references: ["b"],
        });
        await probe.damage("here", "a", part);
        const unreadable = { readable: false, name, createdMs, updatedMs, revision, extra, writer };
        expect(await storage.get(scope, "a")).toEqual(unreadable);
        const shown: (Stored | undefined)[] = [];
        const answer = await storage.change(scope, "a", (stored) => {
          shown.push(stored);
          return keeping();
        });
        expect([shown[0], answer]).toEqual([unreadable, unreadable]);
      },
    );

    test.each(["type", "kind", "refs"] as const)(
      "for its %s is repaired by a put and removed by a delete",
      async (part) => {
        const { storage, probe, setClock } = await opened(open);
        await put(storage, "a", { references: ["b"] });
        await put(storage, "b");
        await probe.damage("here", "a", part);
        await probe.damage("here", "b", part);
        setClock(startMs + 1_000);
        const repaired = await put(storage, "a", { references: ["c"] });
        expect(repaired).toMatchObject({ createdMs: startMs, updatedMs: startMs + 1_000, references: ["c"] });
        expect(await storage.get(scope, "a")).toEqual(repaired);
        expect(await remove(storage, "b")).toBeUndefined();
        expect(await probe.workspace("here")).toMatchObject({ position: 4, recordCount: 1 });
        expect(await listed(storage)).toMatchObject({ unreadable: 0, records: [repaired] });
      },
    );
  });

  describe("workspaces", () => {
    test("never see each other", async () => {
      const { storage, probe } = await opened(open);
      const [one, two] = [scopeOf("one"), scopeOf("two")];
      const first = await put(storage, "a", { status: "one" }, one);
      const second = await put(storage, "a", { status: "two" }, two);
      await write(storage, "one", one);
      expect(await storage.get(one, "a")).toEqual(first);
      expect(await storage.get(two, "a")).toEqual(second);
      expect(await storage.getCursor(two)).toBeUndefined();
      await put(storage, "b", {}, one);
      await remove(storage, "a", two);
      expect(await namesOf(storage, one)).toEqual(["a", "b"]);
      expect(await namesOf(storage, two)).toEqual([]);
      expect(await storage.namesOfLength(two, 0, 128)).toEqual([]);
      expect((await storage.namesOfLength(one, 0, 128)).sort()).toEqual(["a", "b"]);
      expect(await probe.workspace("one")).toMatchObject({ position: 3, recordCount: 2 });
      expect(await probe.workspace("two")).toMatchObject({ position: 2, recordCount: 0 });
    });

    test("are not born by being read", async () => {
      const { storage, probe } = await opened(open);
      await storage.get(scope, "a");
      await storage.getCursor(scope);
      await listed(storage);
      await storage.namesOfLength(scope, 0, 128);
      await storage.changeCursor(scope, keeping);
      expect(await probe.workspace("here")).toBeUndefined();
      expect(await storage.counts()).toEqual({ workspaces: 0, records: 0 });
    });

    test("and their records are counted together", async () => {
      const { storage } = await opened(open);
      await put(storage, "a", {}, scopeOf("one"));
      await put(storage, "b", {}, scopeOf("one"));
      await put(storage, "b", {}, scopeOf("one"));
      await write(storage, "text", scopeOf("two"));
      expect(await storage.counts()).toEqual({ workspaces: 2, records: 2 });
      await remove(storage, "a", scopeOf("one"));
      expect(await storage.counts()).toEqual({ workspaces: 2, records: 1 });
    });

    test("answer their names within a range of lengths, both ends included", async () => {
      const { storage } = await opened(open);
      for (const name of ["a", "bb", "ccc", "dddd", "eeeee"]) await put(storage, name);
      await remove(storage, "ccc");
      expect((await storage.namesOfLength(scope, 2, 4)).sort()).toEqual(["bb", "dddd"]);
      expect(await storage.namesOfLength(scope, -1, 1)).toEqual(["a"]);
      expect(await storage.namesOfLength(scope, 6, 9)).toEqual([]);
    });
  });
}
