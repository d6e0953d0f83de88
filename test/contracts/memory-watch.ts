/**
 * The promises of `src/memory/storage-watch.ts`, run on every engine. A limit of one engine would be listed
 * here with its reason and run expecting failure; none is known.
 */
import { describe, expect, test } from "vitest";
import type { MemoryStorage } from "../../src/memory/storage.js";
import type { Change, ChangesRequest } from "../../src/memory/storage-watch.js";
import { decisionFields, largestFields, oneTo } from "../memory/records.js";
import {
  deleting,
  keeping,
  opened,
  put,
  putting,
  remove,
  scope,
  scopeOf,
  startMs,
  write,
} from "./memory-storage/support.js";
import type { OpenStorage } from "./memory-storage.js";

const everything = { withRecords: true, withCursor: true };

const pageAfter = (storage: MemoryStorage, after: number, include: Partial<ChangesRequest> = {}) =>
  storage.changesAfter(scope, { after, ...everything, ...include });

/** All changes after a position, page by page, and how many each page had. */
async function changesOf(storage: MemoryStorage, after = 0, include: Partial<ChangesRequest> = {}) {
  const [changes, sizes]: [Change[], number[]] = [[], []];
  for (let at = after; ; ) {
    const page = await pageAfter(storage, at, include);
    changes.push(...page.changes);
    sizes.push(page.changes.length);
    at = page.upTo;
    if (at >= (page.standing?.position ?? 0)) return { changes, sizes, at };
  }
}

/** Counts the calls of a listener. */
function listenTo(storage: MemoryStorage, workspace: string) {
  let calls = 0;
  const forget = storage.onWrite(scopeOf(workspace), () => {
    calls += 1;
  });
  return { calls: () => calls, forget };
}

function pagePromises(open: OpenStorage): void {
  describe("changes after a position", () => {
    test("of a workspace that does not exist are none, and it has no standing", async () => {
      const { storage, probe } = await opened(open);
      expect(await storage.getStanding(scope)).toBeUndefined();
      expect(await pageAfter(storage, 0)).toEqual({ standing: undefined, changes: [], upTo: 0 });
      expect(await probe.workspace("here")).toBeUndefined();
    });

    test("tell each write once, in order, with its kind, writer, time and record", async () => {
      const { storage, setClock } = await opened(open);
      const by = scopeOf("here", "ana", "coder");
      const first = await put(storage, "a", { status: "one", body: "why" }, by);
      await put(storage, "b", {}, scopeOf("elsewhere"));
      await write(storage, "text");
      setClock(startMs + 5);
      await storage.change(scope, "a", () => ({
        kind: "put",
        fields: decisionFields({ status: "two" }),
        origin: { change: "restored" },
      }));
      await remove(storage, "a");
      const { changes, at } = await changesOf(storage);
      const tester = { user: "tester", agent: "" };
      expect(changes).toMatchObject([
        { revision: 1, kind: 1, name: "a", atMs: startMs, writer: { user: "ana", agent: "coder" } },
        { revision: 2, kind: 1, name: undefined, atMs: startMs, writer: tester, record: undefined },
        { revision: 3, kind: 4, name: "a", atMs: startMs + 5, record: { status: "two", revision: 3 } },
        { revision: 4, kind: 3, name: "a", atMs: startMs + 6, record: undefined },
      ]);
      expect(changes[0]?.record).toEqual(first);
      expect(at).toBe(4);
      expect(await storage.getStanding(scope)).toMatchObject({ position: 4, trimmedPosition: 0 });
    });

    test("start after the position, and nothing comes after the last", async () => {
      const { storage } = await opened(open);
      for (const name of ["a", "b", "c"]) await put(storage, name);
      expect((await pageAfter(storage, 2)).changes.map(({ name }) => name)).toEqual(["c"]);
      expect(await pageAfter(storage, 3)).toMatchObject({ changes: [], upTo: 3 });
      expect(await pageAfter(storage, 9)).toMatchObject({ standing: { position: 3 }, changes: [], upTo: 9 });
    });

    test("leave out records and the cursor unless they are asked for, and still cover them", async () => {
      const { storage } = await opened(open);
      await put(storage, "a");
      await write(storage, "text");
      const page = await pageAfter(storage, 0, { withRecords: false, withCursor: false });
      expect(page).toMatchObject({ changes: [{ name: "a", record: undefined }], upTo: 2 });
    });

    test("come in small pages that together are all of them, the larger the records the smaller", async () => {
      const { storage } = await opened(open, 1_000);
      await Promise.all(oneTo(250).map((n) => put(storage, `n-${n % 7}`, { status: `${n}` })));
      const small = await changesOf(storage);
      expect(small.changes.map(({ revision }) => revision)).toEqual(oneTo(250));
      expect(Math.max(...small.sizes)).toBeLessThanOrEqual(100);
      await Promise.all(oneTo(5).map(() => storage.change(scope, "big", putting(largestFields))));
      const large = await changesOf(storage, 250);
      expect(large.sizes.filter((size) => size > 0)).toEqual([1, 1, 1, 1, 1]);
      expect((await changesOf(storage, 250, { withRecords: false })).sizes).toEqual([5]);
    });

    test("of a name written more often than revisions are kept hold its newest, and skip what is gone", async () => {
      const { storage } = await opened(open, 10);
      await put(storage, "once");
      for (const n of oneTo(30)) await put(storage, "often", { status: String(n) });
      const { changes, at } = await changesOf(storage);
      expect(changes.map(({ revision }) => revision)).toEqual([1, ...oneTo(10).map((n) => 21 + n)]);
      expect(changes.at(-1)?.record?.status).toBe("30");
      expect(at).toBe(31);
    });

    test("keep a redacted write without its record", async () => {
      const { storage } = await opened(open);
      for (const status of ["one", "two"]) await put(storage, "a", { status });
      await storage.redactRevisions(scope, "a");
      const { changes } = await changesOf(storage);
      expect(changes.map(({ record }) => record?.status)).toEqual([undefined, "two"]);
    });

    test("know of the highest deletion that was trimmed", async () => {
      const { storage, setClock } = await opened(open);
      for (const name of ["a", "b"]) await put(storage, name);
      await remove(storage, "a");
      await put(storage, "c");
      setClock(startMs + 1_000);
      await storage.sweepDeleted(startMs + 500);
      const page = await pageAfter(storage, 0);
      expect(page.standing).toMatchObject({ position: 4, trimmedPosition: 3 });
      expect(page.changes.map(({ name }) => name)).toEqual(["b", "c"]);
      expect(await storage.getStanding(scope)).toEqual(page.standing);
    });
  });
}

function listenerPromises(open: OpenStorage): void {
  describe("a listener", () => {
    test("is called once the write can be read, whatever kind of write it was", async () => {
      const { storage } = await opened(open);
      const seen: Promise<number>[] = [];
      storage.onWrite(scope, () => seen.push(pageAfter(storage, 0).then(({ upTo }) => upTo)));
      await put(storage, "a");
      await write(storage, "text");
      await storage.restore(scope, "a", 1, ({ revision }) =>
        revision?.record === undefined ? keeping() : { kind: "put", fields: revision.record },
      );
      await remove(storage, "a");
      expect(await Promise.all(seen)).toEqual([1, 2, 3, 4]);
    });

    test("is not called for another workspace, for a refused write, or after it was taken away", async () => {
      const { storage } = await opened(open);
      const [here, there] = [listenTo(storage, "here"), listenTo(storage, "there")];
      await put(storage, "a", {}, scopeOf("there"));
      await storage.change(scope, "a", keeping);
      await storage.change(scope, "a", deleting);
      const refusing = () => {
        throw new Error("not so");
      };
      await expect(storage.change(scope, "a", refusing)).rejects.toThrow("not so");
      expect([here.calls(), there.calls()]).toEqual([0, 1]);
      there.forget();
      const later = listenTo(storage, "there");
      there.forget();
      await put(storage, "b", {}, scopeOf("there"));
      expect([there.calls(), later.calls()]).toEqual([1, 1]);
    });

    test("is one of many, each of which is called", async () => {
      const { storage } = await opened(open);
      const listeners = oneTo(3).map(() => listenTo(storage, "here"));
      listeners[1]?.forget();
      await put(storage, "a");
      expect(listeners.map(({ calls }) => calls())).toEqual([1, 0, 1]);
    });

    test("is called for many writes at most as often as there were commits, and at least once", async () => {
      const { storage } = await opened(open);
      const { calls } = listenTo(storage, "here");
      await Promise.all(oneTo(200).map((n) => put(storage, `n-${n}`)));
      expect(calls()).toBeGreaterThan(0);
      expect(calls()).toBeLessThan(200);
    });
  });
}

export function memoryWatchContract(name: string, open: OpenStorage): void {
  describe(`the changes of the memory storage on ${name}`, () => {
    pagePromises(open);
    listenerPromises(open);
  });
}
