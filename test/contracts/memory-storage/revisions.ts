/** Revisions (memory.md M50, M38): the port cannot read them yet, so the tables are looked at. */
import { describe, expect, test } from "vitest";
import { recordTypes, refKinds } from "../../../src/memory/model.js";
import { decisionFields, oneTo } from "../../memory/records.js";
import type { OpenStorage } from "../memory-storage.js";
import { keeping, opened, put, remove, scope, scopeOf, startMs, write } from "./support.js";

const [created, updated, deleted] = [1, 2, 3];

export function revisionPromises(open: OpenStorage): void {
  describe("a revision", () => {
    test("is appended by every write, with its kind, time and writer and the whole record after it", async () => {
      const { storage, probe, setClock } = await opened(open);
      const fields = decisionFields({
        type: recordTypes.plan,
        refs: [
          { kind: refKinds.query, target: 'it\'s "q"' },
          { kind: refKinds.doc, target: "docs/a.md" },
        ],
        status: "active",
        body: "why \u{1f600}",
        references: ["b", "a"],
      });
      await put(storage, "a", fields, scopeOf("here", "ana", "coder"));
      setClock(startMs + 10);
      await put(storage, "a", { ...fields, status: "done" }, scopeOf("here", "ben"));
      await remove(storage, "a", scopeOf("here", "cyn"));
      await put(storage, "a", {}, scopeOf("here", "dan"));
      const content = (changes: object, createdMs: number) => ({
        ...fields,
        created_ms: createdMs,
        ...changes,
      });
      expect(await probe.revisions("here")).toEqual([
        {
          revision: 1,
          name: "a",
          kind: created,
          atMs: startMs,
          writer: { user: "ana", agent: "coder" },
          content: content({}, startMs),
        },
        {
          revision: 2,
          name: "a",
          kind: updated,
          atMs: startMs + 10,
          writer: { user: "ben", agent: "" },
          content: content({ status: "done" }, startMs),
        },
        {
          revision: 3,
          name: "a",
          kind: deleted,
          atMs: startMs + 11,
          writer: { user: "cyn", agent: "" },
          content: null,
        },
        {
          revision: 4,
          name: "a",
          kind: created,
          atMs: startMs + 12,
          writer: { user: "dan", agent: "" },
          content: content(decisionFields(), startMs + 12),
        },
      ]);
    });

    test("of a repaired row is an update with the old create time", async () => {
      const { storage, probe } = await opened(open);
      await put(storage, "a");
      await probe.damage("here", "a", "type");
      await put(storage, "a");
      expect((await probe.revisions("here")).at(-1)).toMatchObject({
        kind: updated,
        content: { created_ms: startMs },
      });
    });

    test("of the cursor has the empty name and the text", async () => {
      const { storage, probe } = await opened(open);
      await write(storage, "one");
      await write(storage, "");
      expect(await probe.revisions("here")).toMatchObject([
        { revision: 1, name: "", kind: created, content: { content: "one" } },
        { revision: 2, name: "", kind: updated, atMs: startMs + 1, content: { content: "" } },
      ]);
    });

    test("is not appended by what is kept, thrown or deleted though absent", async () => {
      const { storage, probe } = await opened(open);
      await put(storage, "a");
      await storage.change(scope, "a", keeping);
      await storage.changeCursor(scope, keeping);
      await remove(storage, "b");
      const failing = () => {
        throw new Error("not so");
      };
      await expect(storage.change(scope, "a", failing)).rejects.toThrow("not so");
      expect(await probe.revisions("here")).toHaveLength(1);
    });
  });

  describe("the revisions of a name", () => {
    test("are cut to the newest of the number that is kept, at once", async () => {
      const { storage, probe } = await opened(open, 10);
      for (const round of oneTo(13)) {
        await put(storage, "a", { status: String(round) });
        const rows = await probe.revisions("here");
        const expected = oneTo(round).slice(-10);
        expect(rows.map(({ revision }) => revision)).toEqual(expected);
      }
      expect((await probe.revisions("here"))[0]?.content).toMatchObject({ status: "4" });
    });

    test("are cut for each name alone", async () => {
      const { storage, probe } = await opened(open, 10);
      await put(storage, "quiet");
      await put(storage, "a", {}, scopeOf("there"));
      await write(storage, "text");
      for (const round of oneTo(30)) await put(storage, "a", { status: String(round) });
      const names = (await probe.revisions("here")).map(({ name }) => name);
      expect(names).toEqual(["quiet", "", ...oneTo(10).map(() => "a")]);
      expect(await probe.revisions("there")).toHaveLength(1);
    });

    test("count a deletion as one of them", async () => {
      const { storage, probe } = await opened(open, 10);
      for (const _round of oneTo(12)) await put(storage, "a");
      await remove(storage, "a");
      const kinds = (await probe.revisions("here")).map(({ kind }) => kind);
      expect(kinds).toEqual([...oneTo(9).map(() => updated), deleted]);
    });
  });

  test("the last fifty earlier values of the cursor are kept beside the live one, whatever is kept of records", async () => {
    const { storage, probe } = await opened(open, 10);
    for (const round of oneTo(60)) await write(storage, `text ${round}`);
    const rows = await probe.revisions("here");
    expect(rows.map(({ content }) => content)).toEqual(
      oneTo(60)
        .slice(-51)
        .map((round) => ({ content: `text ${round}` })),
    );
    expect((await storage.getCursor(scope))?.content).toBe("text 60");
  });
}
