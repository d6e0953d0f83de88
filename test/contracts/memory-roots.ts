/**
 * The promises of `src/memory/storage-roots.ts` and `src/memory/storage-survey.ts`, and that the baselines of
 * refs are kept with them, run on every engine. A limit of one engine would be listed here with its reason and
 * run expecting failure; none is known.
 */
import { describe, expect, test } from "vitest";
import { type Ref, refKinds } from "../../src/memory/model.js";
import type { Root } from "../../src/memory/roots.js";
import type { MemoryStorage } from "../../src/memory/storage.js";
import type { Stored } from "../../src/memory/upsert.js";
import { oneTo } from "../memory/records.js";
import { listed, opened, put, readable, remove, scope, scopeOf, startMs } from "./memory-storage/support.js";
import type { OpenStorage } from "./memory-storage.js";

const rootOf = (name: string): Root => ({ rootId: name.padEnd(12, "f"), path: `/src/${name}` });
const fits = (): void => {};
const attach = (storage: MemoryStorage, name: string, into = scope) =>
  storage.attachRoot(into, rootOf(name), fits);

function rootPromises(open: OpenStorage): void {
  describe("roots", () => {
    test("are none where none was attached, and asking makes no workspace", async () => {
      const { storage, probe } = await opened(open);
      expect(await storage.roots(scope)).toEqual([]);
      expect(await storage.rootIds(["here"])).toEqual(new Map());
      expect(await storage.detachRoot(scope, rootOf("a").rootId)).toBe(false);
      expect(await probe.workspace("here")).toBeUndefined();
    });

    test("come in the order in which they were attached, also within one moment and when the clock steps back", async () => {
      const { storage, setClock } = await opened(open);
      for (const name of ["c", "a", "d"]) await attach(storage, name);
      setClock(startMs - 1_000);
      await attach(storage, "b");
      expect(await storage.roots(scope)).toEqual(["c", "a", "d", "b"].map(rootOf));
      expect(await storage.rootIds(["here", "there"])).toEqual(
        new Map([["here", ["c", "a", "d", "b"].map((name) => rootOf(name).rootId)]]),
      );
    });

    test("keep their place when they are attached again, and nobody is asked whether they fit", async () => {
      const { storage } = await opened(open);
      for (const name of ["a", "b"]) await attach(storage, name);
      const refusing = () => expect.fail("a root that is there was to fit again");
      await storage.attachRoot(scope, rootOf("a"), refusing);
      expect(await storage.roots(scope)).toEqual(["a", "b"].map(rootOf));
    });

    test("that do not fit are not attached, and no workspace is born for them", async () => {
      const { storage, probe } = await opened(open);
      const refusing = () => {
        throw new Error("no room");
      };
      await expect(storage.attachRoot(scope, rootOf("a"), refusing)).rejects.toThrow("no room");
      expect(await storage.roots(scope)).toEqual([]);
      expect(await probe.workspace("here")).toBeUndefined();
    });

    test("are judged by the roots that are there and the room for a workspace", async () => {
      const { storage } = await opened(open);
      const seen: unknown[] = [];
      const noting = (...shown: unknown[]): void => void seen.push(shown);
      await storage.attachRoot(scope, rootOf("a"), noting);
      await put(storage, "record");
      await storage.attachRoot(scope, rootOf("b"), noting);
      await storage.attachRoot(scopeOf("there"), rootOf("b"), noting);
      expect(seen).toEqual([
        [[], { recordCount: 0, otherWorkspaces: 0 }],
        [[rootOf("a")], { recordCount: 1, otherWorkspaces: undefined }],
        [[], { recordCount: 0, otherWorkspaces: 1 }],
      ]);
    });

    test("give birth to a workspace without taking a position, and the first write takes the first", async () => {
      const { storage, probe } = await opened(open);
      await attach(storage, "a");
      expect(await probe.workspace("here")).toMatchObject({ position: 0, recordCount: 0 });
      expect((await put(storage, "record")).revision).toBe(1);
      expect(await storage.counts()).toEqual({ workspaces: 1, records: 1 });
    });

    test("belong to their workspace, and go alone", async () => {
      const { storage } = await opened(open);
      for (const name of ["a", "b"]) await attach(storage, name);
      await attach(storage, "a", scopeOf("there"));
      expect(await storage.detachRoot(scope, rootOf("a").rootId)).toBe(true);
      expect(await storage.detachRoot(scope, rootOf("a").rootId)).toBe(false);
      expect(await storage.roots(scope)).toEqual([rootOf("b")]);
      expect(await storage.roots(scopeOf("there"))).toEqual([rootOf("a")]);
    });

    test("that are attached at once are all there", async () => {
      const { storage } = await opened(open);
      const names = oneTo(16).map((number) => `r${number}`);
      await Promise.all(names.map((name) => attach(storage, name)));
      expect(await storage.roots(scope)).toEqual(names.map(rootOf));
    });
  });
}

function baselinePromises(open: OpenStorage): void {
  const { doc } = refKinds;
  const refs: readonly Ref[] = [
    { kind: doc, target: "a", baseline: { bytes: 4, sha256: "aa" } },
    { kind: doc, target: "a" },
    { kind: doc, target: "huge", baseline: { bytes: 9_000_000, sha256: undefined } },
    { kind: doc, target: "folder", baseline: { bytes: -1, sha256: undefined } },
  ];

  describe("the baselines of refs", () => {
    test("are read back with their refs, alone and in lists", async () => {
      const { storage } = await opened(open);
      expect((await put(storage, "a", { refs })).refs).toEqual(refs);
      expect(readable(await storage.get(scope, "a")).refs).toEqual(refs);
      expect((await listed(storage)).records.map((record) => record.refs)).toEqual([refs]);
    });

    test("change although the refs are the same", async () => {
      const { storage } = await opened(open);
      await put(storage, "a", { refs });
      const changed = refs.map((ref) => ({ ...ref, baseline: { bytes: 5, sha256: "bb" } }));
      await put(storage, "a", { refs: changed });
      expect(readable(await storage.get(scope, "a")).refs).toEqual(changed);
      const without = refs.map(({ kind, target }) => ({ kind, target }));
      await put(storage, "a", { refs: without });
      expect(readable(await storage.get(scope, "a")).refs).toEqual(without);
    });

    test("are kept with a revision", async () => {
      const { storage } = await opened(open);
      await put(storage, "a", { refs });
      await put(storage, "a");
      const kept: Ref[] = [];
      await storage.listRevisions(scope, "a", {
        before: 2,
        take: ({ record }) => kept.push(...(record?.refs ?? [])) > 0,
      });
      expect(kept).toEqual(refs);
    });
  });
}

function surveyPromises(open: OpenStorage): void {
  type Wanted = { readonly after?: string; readonly names?: readonly string[]; readonly limit?: number };
  const survey = async (storage: MemoryStorage, { after, names, limit = 1_000 }: Wanted = {}, of = scope) => {
    const rows: Stored[] = [];
    const all: [string, number][] = [];
    const { nextAfter } = await storage.survey(of, {
      after,
      limit,
      ...(names === undefined ? {} : { names }),
      onRow: (stored) => {
        expect(all).toEqual([]);
        rows.push(stored);
      },
      onName: (name, createdMs) => void all.push([name, createdMs]),
    });
    return { names: rows.map(({ name }) => name), rows, all, nextAfter };
  };

  describe("a survey", () => {
    test("of a workspace that does not exist shows nothing", async () => {
      const { storage } = await opened(open);
      expect(await survey(storage)).toEqual({ names: [], rows: [], all: [], nextAfter: undefined });
    });

    test("shows rows after a name in byte order, then all names with their create times", async () => {
      const { storage } = await opened(open);
      for (const name of ["ab", "a0", "a-b", "a"]) await put(storage, name);
      await put(storage, "a", { status: "later" });
      await put(storage, "other", {}, scopeOf("there"));
      const all = ["a", "a-b", "a0", "ab"].map((name) => [name, startMs]);
      expect(await survey(storage)).toMatchObject({ names: ["a", "a-b", "a0", "ab"], all });
      const page = await survey(storage, { after: "a", limit: 2 });
      expect(page).toMatchObject({ names: ["a-b", "a0"], all, nextAfter: "a0" });
      expect(await survey(storage, { after: "a0", limit: 1 })).toMatchObject({ names: ["ab"] });
      expect((await survey(storage, { after: "a0", limit: 1 })).nextAfter).toBeUndefined();
    });

    test("shows rows of some names alone, each once, and passes over those that are absent", async () => {
      const { storage } = await opened(open);
      for (const name of ["a", "b", "c", "d"]) await put(storage, name);
      await remove(storage, "b");
      const wanted = { names: ["d", "a", "b", "d", "never"] };
      const { names, all } = await survey(storage, wanted);
      expect(names).toEqual(["a", "d"]);
      expect(all.map(([name]) => name)).toEqual(["a", "c", "d"]);
      expect(await survey(storage, { ...wanted, limit: 1 })).toMatchObject({ names: ["a"], nextAfter: "a" });
      expect((await survey(storage, { ...wanted, after: "a" })).names).toEqual(["d"]);
    });

    test("shows rows that do not read as records too", async () => {
      const { storage, probe } = await opened(open);
      for (const name of ["a", "b", "c"]) await put(storage, name);
      await probe.damage("here", "b", "kind");
      const { rows } = await survey(storage);
      expect(rows.map(({ name, readable: isReadable }) => [name, isReadable])).toEqual([
        ["a", true],
        ["b", false],
        ["c", true],
      ]);
    });

    test("is of one moment, though records come and go meanwhile", async () => {
      const { storage } = await opened(open);
      const names = oneTo(1_200).map((number) => `n${String(number).padStart(4, "0")}`);
      await Promise.all(names.map((name) => put(storage, name)));
      const writes: Promise<unknown>[] = [];
      const all: string[] = [];
      await storage.survey(scope, {
        after: undefined,
        limit: 60,
        onRow: ({ name }) => void writes.push(remove(storage, `${name.slice(0, 1)}1${name.slice(2)}`)),
        onName: (name) => void all.push(name),
      });
      await Promise.all(writes);
      expect(all).toEqual(names);
      expect((await listed(storage)).records.length).toBeLessThan(1_200);
    });
  });
}

export function memoryRootsContract(name: string, open: OpenStorage): void {
  describe(`roots, baselines and surveys on ${name}`, () => {
    rootPromises(open);
    baselinePromises(open);
    surveyPromises(open);
  });
}
