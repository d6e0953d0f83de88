/**
 * What SearchRecords answers where a vector file does not reach: explanations, views, pages, rights, refs that are
 * looked up, and that searching changes nothing. M18, M63–M65, MV32, MV48–MV51 and MV58.
 */
import { describe, expect, test } from "vitest";
import { MemoryType } from "../../gen/magus/memory/v1/memory_pb.js";
import { RecordView, RefState } from "../../gen/memoryd/records/v1/records_pb.js";
import { binaryBytes } from "../../src/memory/size.js";
import { createTestClock, engines } from "./door.js";
import { refusalOf } from "./errors.js";
import { calling, decision, largestFields, longName, type MemoryInit, oneTo } from "./records.js";
import { type Stack, stackForTest, tester } from "./stack.js";

const workspace = "search";
const options = calling({ workspace });
const maxPageBytes = 2_097_152;
const writer = { user: tester.user, agent: "" };

const put = async ({ client }: Stack, memory: MemoryInit, into = options) =>
  (await client.updateMemory({ memory, allowMissing: true }, into)).memory;

type Request = Parameters<Stack["records"]["searchRecords"]>[0];

const search = ({ records }: Stack, request: Request) => records.searchRecords(request, options);

const namesIn = ({ hits }: Awaited<ReturnType<typeof search>>) =>
  hits.map(({ record }) => record?.memory?.name);

const largest = (name: string): MemoryInit => ({
  ...decision(name),
  refs: largestFields.refs.map(({ kind, target }) => ({ kind, target })),
  status: largestFields.status,
  body: `walrus ${largestFields.body.slice(7)}`,
  references: [...largestFields.references],
});

describe.each(engines)("on %s", (engine) => {
  test("M64 an explanation names each term, where it is and its part, and the terms that are not there", async () => {
    const stack = await stackForTest(engine);
    for (const n of oneTo(20)) await put(stack, decision(`other-${n}`));
    await put(
      stack,
      decision("walrus-plan", { status: "walrus", body: "A walrus plans; wal*.", references: ["bear"] }),
    );
    const { hits, words } = await search(stack, { query: "walrus plan wal* bear", explain: true });
    expect(words).toEqual(["walrus", "plan", "wal", "bear"]);
    const { score, explanation } = hits[0] ?? {};
    expect(explanation).toMatchObject({ coverage: 0.75, missingWords: ["bear"] });
    const terms = explanation?.terms ?? [];
    expect(terms.map(({ term, prefix, fields }) => [term, prefix, fields])).toEqual([
      ["walrus", false, ["name", "status", "body"]],
      ["plan", false, ["name", "body"]],
      ["wal", true, ["name", "status", "body"]],
    ]);
    // Twice each, as a token by the weight of its field and as a stem: 4 + 2 + 1 and three stems.
    expect(terms[0]?.weightedCount).toBe(10);
    expect(terms.every(({ idf }) => idf > 2 && idf < 3)).toBe(true);
    expect(terms.reduce((sum, term) => sum + term.score, 0)).toBeCloseTo(score ?? 0, 12);
  });

  test("M64 how rare a word is elsewhere is not told", async () => {
    const stack = await stackForTest(engine);
    await put(stack, decision("a", { body: "walrus" }));
    await put(stack, decision("b"));
    const idf = async () =>
      (await search(stack, { query: "walrus", explain: true })).hits[0]?.explanation?.terms[0]?.idf;
    const before = await idf();
    for (const n of oneTo(30)) {
      await put(stack, decision(`n${n}`, { body: "walrus" }), calling({ workspace: "elsewhere" }));
    }
    expect(await idf()).toBe(before);
  });

  test("M63 a search without words has neither scores nor explanations", async () => {
    const stack = await stackForTest(engine);
    await put(stack, decision("a", { body: "text" }));
    const { hits, words, wordsTruncated } = await search(stack, { query: " ", explain: true });
    expect(hits).toMatchObject([{ score: 0 }]);
    expect(hits[0]?.explanation).toBeUndefined();
    expect([words, wordsTruncated]).toEqual([[], false]);
  });

  test("M63 a query of many terms keeps 32 and says so", async () => {
    const stack = await stackForTest(engine);
    await put(stack, decision("a", { body: "word40" }));
    const { words, wordsTruncated, hits } = await search(stack, {
      query: oneTo(40)
        .map((n) => `word${n}`)
        .join(" "),
    });
    expect(words).toHaveLength(32);
    expect(wordsTruncated).toBe(true);
    expect(hits).toHaveLength(words.includes("word40") ? 1 : 0);
  });

  test("the view is basic unless full is asked for, and a hit is a record with its last write", async () => {
    const stack = await stackForTest(engine);
    const stored = await put(stack, decision("a", { body: "walrus" }));
    const hit = async (view: RecordView) => (await search(stack, { query: "walrus", view })).hits[0]?.record;
    expect(await hit(RecordView.FULL)).toMatchObject({ memory: stored, revision: 1n });
    expect((await hit(RecordView.FULL))?.writer).toMatchObject({ user: "tester", agent: "" });
    for (const view of [RecordView.UNSPECIFIED, RecordView.BASIC]) {
      expect((await hit(view))?.memory).toEqual({ ...stored, body: "" });
    }
  });

  test("M18 a page of the largest records is cut to what an answer holds, and the pages meet", async () => {
    const stack = await stackForTest(engine);
    const names = oneTo(8).map((n) => longName(`n${n}`));
    for (const name of names) await put(stack, largest(name));
    for (const query of ["walrus", ""]) {
      const request = { query, view: RecordView.FULL, explain: true };
      const first = await search(stack, request);
      expect([first.hits.length, first.totalSize]).toEqual([6, 8]);
      const rest = await search(stack, { ...request, pageToken: first.nextPageToken });
      expect([rest.hits.length, rest.totalSize, rest.nextPageToken]).toEqual([2, 8, ""]);
      expect([...namesIn(first), ...namesIn(rest)].sort()).toEqual([...names].sort());
    }
    const states = await Promise.all(names.map((name) => stack.storage.get({ workspace, writer }, name)));
    const bytes = states.map((state) => (state?.readable === true ? binaryBytes(state) : 0));
    expect(Math.max(...bytes) * 7).toBeGreaterThan(maxPageBytes);
  });

  test("M65 pages are of 20 unless said, of 100 at most, and the last has no token", async () => {
    const stack = await stackForTest(engine);
    await Promise.all(oneTo(105).map((n) => put(stack, decision(`n${n}`, { body: "walrus" }))));
    expect((await search(stack, { query: "walrus" })).hits).toHaveLength(20);
    const first = await search(stack, { query: "walrus", pageSize: 500 });
    expect([first.hits.length, first.totalSize]).toEqual([100, 105]);
    const last = await search(stack, { query: "walrus", pageSize: 500, pageToken: first.nextPageToken });
    expect([last.hits.length, last.nextPageToken]).toEqual([5, ""]);
    expect(new Set([...namesIn(first), ...namesIn(last)]).size).toBe(105);
  });

  test("M65 pages without words meet though a record on the first is written again", async () => {
    const clock = createTestClock();
    const stack = await stackForTest(engine, { clock });
    for (const n of oneTo(6)) {
      clock.set(n * 1_000);
      await put(stack, decision(`n${n}`));
    }
    const first = await search(stack, { pageSize: 3 });
    expect(namesIn(first)).toEqual(["n6", "n5", "n4"]);
    await put(stack, decision("n4", { status: "done" }));
    const rest = await search(stack, { pageSize: 3, pageToken: first.nextPageToken });
    expect(namesIn(rest)).toEqual(["n3", "n2", "n1"]);
  });

  test("(MV52) the first hit of several is the one whose name says it", async () => {
    const stack = await stackForTest(engine);
    for (const name of ["a", "b", "codec"]) {
      await put(stack, decision(name, { type: MemoryType.PLAN, body: "the codec and more" }));
    }
    expect(namesIn(await search(stack, { query: "codec" }))[0]).toBe("codec");
  });

  test("refs are looked up when that is asked for", async () => {
    const stack = await stackForTest(engine);
    await put(stack, decision("a", { body: "walrus" }));
    const [hit] = (await search(stack, { query: "walrus", checkRefs: true })).hits;
    expect(hit?.record?.refChecks).toMatchObject([
      { index: 0, state: RefState.UNCHECKED, reason: "no_root" },
    ]);
    expect((await search(stack, { query: "walrus" })).hits[0]?.record?.refChecks).toEqual([]);
  });

  test("M5 whoever may only read may search", async () => {
    const stack = await stackForTest(engine, { caller: { user: "reader", right: "read" } });
    expect((await search(stack, { query: "walrus" })).hits).toEqual([]);
    const workspaces = calling({ workspace: "Not A Slug" });
    expect(await refusalOf(stack.records.searchRecords({}, workspaces))).toMatchObject({
      code: "invalid_argument",
      fields: ["memoryd-workspace"],
    });
  });

  test("MV58 searching a hundred times changes nothing, and makes no workspace", async () => {
    const stack = await stackForTest(engine);
    await put(stack, decision("a", { body: "walrus" }));
    const all = () =>
      [
        "workspaces",
        "records",
        "refs",
        "links",
        "revisions",
        "search_docsize",
        "search_data",
        "unindexed",
      ].map((table) => stack.rows(`select * from memory_${table}`));
    const before = all();
    for (const n of oneTo(100)) {
      const request = {
        query: n % 2 === 0 ? "walrus bear" : "",
        explain: n % 3 === 0,
        checkRefs: n % 5 === 0,
      };
      await search(stack, request);
      await stack.records.searchRecords(request, calling({ workspace: "never-written" }));
    }
    expect(all()).toEqual(before);
  });

  test("what is imported and what is restored is found at once", async () => {
    const stack = await stackForTest(engine);
    const content = Buffer.from(
      "---\nname: came\ntype: decision\nrefs:\n  - kind: doc\n    target: docs/walrus.md\n---\n\nA bear.\n",
    );
    await stack.records.importRecords({ files: [{ path: "came.md", content }] }, options);
    expect(namesIn(await search(stack, { query: "bear" }))).toEqual(["came"]);
    await stack.client.deleteMemory({ name: "came" }, options);
    expect(namesIn(await search(stack, { query: "walrus" }))).toEqual([]);
    await stack.records.restoreRecord({ name: "came" }, options);
    expect(namesIn(await search(stack, { query: "walrus", refTarget: "docs/" }))).toEqual(["came"]);
  });
});
