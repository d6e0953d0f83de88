/** Lists: order, pages, damaged rows, and one consistent read however long it takes. */
import { describe, expect, test } from "vitest";
import type { StoredRecord } from "../../../src/memory/model.js";
import { largestFields, oneTo } from "../../memory/records.js";
import type { OpenStorage } from "../memory-storage.js";
import { listed, namesOf, opened, put, putting, remove, scope, scopeOf } from "./support.js";

const nameAt = (number: number): string => `name-${String(number).padStart(4, "0")}`;

export function listPromises(open: OpenStorage): void {
  describe("a list", () => {
    test("of a workspace that does not exist has no records", async () => {
      const { storage } = await opened(open);
      await put(storage, "a", {}, scopeOf("there"));
      expect(await listed(storage)).toEqual({ records: [], unreadable: 0, nextAfter: undefined });
      expect(await listed(storage, "a", 1)).toEqual({ records: [], unreadable: 0, nextAfter: undefined });
    });

    test("is in the order of the names' UTF-8 bytes", async () => {
      const { storage } = await opened(open);
      const inOrder = [
        "A",
        "Z",
        "a",
        "a b",
        "a-b",
        "a0",
        "a_",
        "ab",
        "z",
        "\u00e9",
        "\ud7ff",
        "\ue000",
        "\uffff",
        "\u{1f600}",
      ];
      for (const name of inOrder.toReversed()) await put(storage, name, { references: [`of ${name}`] });
      const { records } = await listed(storage);
      expect(records.map(({ name }) => name)).toEqual(inOrder);
      expect(records.map(({ references }) => references)).toEqual(inOrder.map((name) => [`of ${name}`]));
      const after = await listed(storage, "\uffff");
      expect(after.records.map(({ name }) => name)).toEqual(["\u{1f600}"]);
    });

    test("ends its page before the record that is not taken, which begins the next one", async () => {
      const { storage } = await opened(open);
      for (const name of ["a", "b", "c", "d", "e"]) await put(storage, name);
      const first = await listed(storage, undefined, 2);
      expect([first.records.map(({ name }) => name), first.nextAfter]).toEqual([["a", "b"], "b"]);
      const second = await listed(storage, first.nextAfter, 2);
      expect([second.records.map(({ name }) => name), second.nextAfter]).toEqual([["c", "d"], "d"]);
      const third = await listed(storage, second.nextAfter, 2);
      expect([third.records.map(({ name }) => name), third.nextAfter]).toEqual([["e"], undefined]);
    });

    test("says that there is no more when the page ends with the last record", async () => {
      const { storage } = await opened(open);
      for (const name of ["a", "b"]) await put(storage, name);
      expect((await listed(storage, undefined, 2)).nextAfter).toBeUndefined();
      expect((await listed(storage, "a", 1)).nextAfter).toBeUndefined();
      expect((await listed(storage, "b", 1)).nextAfter).toBeUndefined();
    });

    test("goes on after a name that was never there or is gone", async () => {
      const { storage } = await opened(open);
      for (const name of ["a", "c", "e"]) await put(storage, name);
      await remove(storage, "c");
      expect((await listed(storage, "b")).records.map(({ name }) => name)).toEqual(["e"]);
      expect((await listed(storage, "c")).records.map(({ name }) => name)).toEqual(["e"]);
    });

    test("offers each record once, in order, and none after one that was not taken", async () => {
      const { storage } = await opened(open);
      await Promise.all(oneTo(1_200).map((number) => put(storage, nameAt(number))));
      const offered: string[] = [];
      const take = ({ name }: StoredRecord): boolean => {
        offered.push(name);
        return offered.length <= 1_100;
      };
      const page = await storage.list(scope, { after: undefined, take });
      expect(offered).toEqual(oneTo(1_101).map(nameAt));
      expect(page).toEqual({ unreadable: 0, nextAfter: nameAt(1_100) });
    });

    test("leaves damaged rows out and counts them in the page where they lie", async () => {
      const { storage, probe } = await opened(open);
      for (const name of ["a", "b", "c", "d", "e", "f"]) await put(storage, name, { references: ["z"] });
      await probe.damage("here", "a", "type");
      await probe.damage("here", "c", "kind");
      await probe.damage("here", "f", "refs");
      const whole = await listed(storage);
      expect(whole.records.map(({ name }) => name)).toEqual(["b", "d", "e"]);
      expect(whole).toMatchObject({ unreadable: 3, nextAfter: undefined });
      const pages = [];
      for (let after: string | undefined, last = false; !last; ) {
        const page = await listed(storage, after, 1);
        pages.push([page.records.map(({ name }) => name).join(), page.unreadable]);
        after = page.nextAfter;
        last = after === undefined;
      }
      expect(pages.map(([name]) => name)).toEqual(["b", "d", "e"]);
      expect(pages.reduce((sum, [, unreadable]) => sum + Number(unreadable), 0)).toBe(3);
    });

    test("counts damaged rows wherever they lie in a long page", async () => {
      const { storage, probe } = await opened(open);
      await Promise.all(oneTo(1_300).map((number) => put(storage, nameAt(number))));
      for (const number of [1, 700, 1_300]) await probe.damage("here", nameAt(number), "type");
      const { records, unreadable, nextAfter } = await listed(storage);
      expect([records.length, unreadable, nextAfter]).toEqual([1_297, 3, undefined]);
    });

    test("of damaged rows alone is empty", async () => {
      const { storage, probe } = await opened(open);
      await put(storage, "a");
      await probe.damage("here", "a", "type");
      expect(await listed(storage)).toEqual({ records: [], unreadable: 1, nextAfter: undefined });
      expect(await listed(storage, undefined, 1)).toEqual({
        records: [],
        unreadable: 1,
        nextAfter: undefined,
      });
    });

    test("of the largest records has each one whole", async () => {
      const { storage } = await opened(open);
      const putAt = (number: number) =>
        put(storage, nameAt(number), { ...largestFields, status: String(number) });
      const answers = await Promise.all(oneTo(12).map(putAt));
      expect((await listed(storage)).records).toEqual(answers);
    });

    test("shows the state of one moment, though records come, change and go while it is read", async () => {
      const { storage } = await opened(open);
      await Promise.all(oneTo(1_500).map((number) => put(storage, nameAt(number))));
      const before = (await listed(storage)).records;
      const writes: Promise<unknown>[] = [];
      const records: StoredRecord[] = [];
      const take = (record: StoredRecord): boolean => {
        if (records.length === 0) {
          writes.push(
            put(storage, "aaa"),
            put(storage, "zzz"),
            ...oneTo(1_500).map((number) =>
              number % 3 === 0
                ? remove(storage, nameAt(number))
                : storage.change(scope, nameAt(number), putting({ status: "new", references: ["x"] })),
            ),
          );
        }
        return records.push(record) > 0;
      };
      await storage.list(scope, { after: undefined, take });
      await Promise.all(writes);
      expect(records).toEqual(before);
      expect(await namesOf(storage)).toHaveLength(1_002);
    });

    test("never shows a later write without the earlier ones, while a writer goes on", async () => {
      const { storage } = await opened(open);
      await Promise.all(oneTo(1_200).map((number) => put(storage, nameAt(number))));
      let isDone = false;
      const writer = (async () => {
        for (let round = 1; !isDone; round += 1) {
          await put(storage, nameAt(1), { status: String(round) });
          await put(storage, nameAt(1_200), { status: String(round) });
        }
      })();
      for (const _round of oneTo(15)) {
        const { records } = await listed(storage);
        const [first, last] = [Number(records[0]?.status), Number(records.at(-1)?.status)];
        expect([last, last + 1]).toContain(first);
      }
      isDone = true;
      await writer;
    });

    test("and other lists at once see the same", async () => {
      const { storage } = await opened(open);
      await Promise.all(oneTo(700).map((number) => put(storage, nameAt(number))));
      const lists = await Promise.all(oneTo(12).map(() => namesOf(storage)));
      for (const names of lists) expect(names).toEqual(oneTo(700).map(nameAt));
    });
  });
}
