/**
 * Vectors of refs that need a working tree (memory.md MV53–MV58, and M70–M76): files that change, go and lead
 * out, looked at through the door.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { MemoryType } from "../../gen/magus/memory/v1/memory_pb.js";
import { RecordView } from "../../gen/memoryd/records/v1/records_pb.js";
import { rootIdFromPath } from "../../src/memory/roots.js";
import { COMMAND, NODE, newCheckout, OUTPUT, QUERY } from "./checkout.js";
import { engines } from "./door.js";
import { refusalOf } from "./errors.js";
import { oneTo } from "./records.js";
import { stackForTest } from "./stack.js";

describe.each(engines)("on %s", (engine) => {
  test("MV53 a file drifts by an edit, stays drifted when the status changes, and is right again once rewritten", async () => {
    const { file, put, fares } = await newCheckout(await stackForTest(engine));
    file("src/a.ts", "one");
    await put("a", ["src/a.ts"]);
    expect(await fares("a")).toEqual(["resolved"]);
    file("src/a.ts", "two");
    expect(await fares("a")).toEqual(["drifted content_differs"]);
    await put("a", ["src/other.ts"], { status: "done" }, ["status"]);
    expect(await fares("a")).toEqual(["drifted content_differs"]);
    await put("a", ["src/a.ts"], { status: "done" });
    expect(await fares("a")).toEqual(["resolved"]);
  });

  test("a write of the body says that the refs are right; one of type or references does not", async () => {
    const { file, put, fares } = await newCheckout(await stackForTest(engine));
    file("a.ts", "one");
    await put("a", ["a.ts"]);
    file("a.ts", "longer");
    await put("a", [], { references: ["b"], type: MemoryType.PLAN }, ["references", "type"]);
    expect(await fares("a")).toEqual(["drifted content_differs"]);
    await put("a", [], { body: "Read it again." }, ["body"]);
    expect(await fares("a")).toEqual(["resolved"]);
    file("a.ts", "once more");
    await put("a", ["a.ts", "b.ts"], {}, ["refs"]);
    expect(await fares("a")).toEqual(["resolved", "dangling not_found"]);
  });

  test("a record that a partial update creates has baselines too", async () => {
    const { file, put, fares } = await newCheckout(await stackForTest(engine));
    file("a.ts", "one");
    await put("a", ["a.ts"], { status: "new" }, ["status"]);
    expect(await fares("a")).toEqual(["resolved"]);
    file("a.ts", "two");
    expect(await fares("a")).toEqual(["drifted content_differs"]);
  });

  test("a restored revision brings its baselines back", async () => {
    const { records, client } = await stackForTest(engine);
    const checkout = await newCheckout({ records, client });
    const { file, put, fares, calling } = checkout;
    file("a.ts", "one");
    await put("a", ["a.ts"], { body: "First." });
    file("a.ts", "two");
    await put("a", ["a.ts"], { body: "Second." });
    expect(await fares("a")).toEqual(["resolved"]);
    await records.restoreRecord({ name: "a", revision: 1n }, calling());
    expect(await fares("a")).toEqual(["drifted content_differs"]);
    file("a.ts", "one");
    expect(await fares("a")).toEqual(["resolved"]);
  });

  test("MV54 a file that is deleted dangles, and one whose root is gone is unchecked", async () => {
    const { root, file, put, fares } = await newCheckout(await stackForTest(engine));
    rmSync(file("a.ts", "one"));
    file("b.ts", "one");
    await put("a", ["a.ts", "b.ts"]);
    rmSync(join(root, "b.ts"));
    expect(await fares("a")).toEqual(["dangling not_found", "dangling not_found"]);
    rmSync(root, { recursive: true });
    expect(await fares("a")).toEqual(["unchecked root_missing", "unchecked root_missing"]);
  });

  test("MV55 what leads out or is no file is unchecked, with its reason", async () => {
    const { root, file, put, fares } = await newCheckout(await stackForTest(engine));
    const secret = join(dirname(root), "secret");
    writeFileSync(secret, "secret");
    symlinkSync(secret, join(root, "out"));
    execFileSync("mkfifo", [join(root, "pipe")]);
    file("in.ts", "one");
    symlinkSync("in.ts", join(root, "link"));
    const outside = ["../secret", "/etc/passwd", "~/.ssh/id", "out", secret];
    await put("a", [...outside, "pipe", "link", join(root, "in.ts")]);
    expect(await fares("a")).toEqual([
      ...outside.map(() => "unchecked outside_root"),
      "unchecked not_regular",
      "resolved",
      "resolved",
    ]);
  });

  test("MV56 places in files, files named like places, and symbols", async () => {
    const { file, put, fares } = await newCheckout(await stackForTest(engine));
    const text = "class Store { put() {} }";
    file("src/a.ts", text);
    file("a#b", "one");
    await put("a", [
      "src/a.ts:12",
      [NODE, "src/a.ts#L3-L9"],
      "a#b",
      [NODE, "symbol:src/a.ts#Store.put"],
      [NODE, "symbol:m x/Store#Put()."],
    ]);
    const others = ["resolved", "resolved", "resolved"];
    expect(await fares("a")).toEqual([...others, "resolved", "unchecked foreign_id"]);
    file("src/a.ts", text.replace("put", "get"));
    expect((await fares("a")).slice(3)).toEqual(["dangling symbol_not_found", "unchecked foreign_id"]);
  });

  test("MV57 no command is run", async () => {
    const { root, put, fares } = await newCheckout(await stackForTest(engine));
    const proof = join(dirname(root), "proof");
    await put("a", [
      [COMMAND, "./gone.sh -x"],
      [COMMAND, `touch ${proof}`],
      [COMMAND, `$(touch ${proof})`],
      [COMMAND, `./$(touch ${proof})`],
      [OUTPUT, `$(touch ${proof})`],
      [QUERY, `touch ${proof}`],
    ]);
    const [first, ...rest] = await fares("a");
    expect(first).toBe("dangling not_found");
    expect(new Set(rest)).toEqual(new Set(["unchecked not_checkable", "unchecked build_cache"]));
    expect(existsSync(proof)).toBe(false);
  });

  test("MV58 reading and checking change nothing that is stored", async () => {
    const stack = await stackForTest(engine);
    const { file, put, fares, verify, calling } = await newCheckout(stack);
    file("a.ts", "one");
    await put("a", ["a.ts"], { references: ["gone"] });
    file("a.ts", "two");
    const tables = ["workspaces", "roots", "records", "refs", "links", "cursors", "revisions"];
    const everything = () => tables.map((table) => stack.rows(`select * from memory_${table}`));
    const before = everything();
    for (const _round of oneTo(20)) {
      expect(await fares("a")).toEqual(["drifted content_differs"]);
      await stack.records.batchGetRecords({ names: ["a"], checkRefs: true }, calling());
      await verify();
      for await (const _part of stack.records.exportRecords({}, calling()));
      for await (const { event } of stack.records.watchRecords({}, calling())) {
        expect(event.case).toBe("ready");
        break;
      }
    }
    expect(everything()).toEqual(before);
  });

  test("the checks of a batch and of a basic view are those of its records", async () => {
    const { records, client } = await stackForTest(engine);
    const { file, put, calling } = await newCheckout({ records, client });
    file("a.ts", "one");
    await put("a", ["a.ts"], { body: "Why." });
    await put("b", ["gone.ts", "a.ts"]);
    const request = { names: ["b", "a", "none"], view: RecordView.BASIC, checkRefs: true };
    const batch = await records.batchGetRecords(request, calling());
    const shown = batch.records.map(({ memory, refChecks }) => [
      memory?.name,
      memory?.body,
      refChecks.map(({ index, state }) => [index, state]),
    ]);
    expect(shown).toEqual([
      [
        "b",
        "",
        [
          [0, 3],
          [1, 1],
        ],
      ],
      ["a", "", [[0, 1]]],
    ]);
    expect((await records.getRecord({ name: "a" }, calling())).record?.refChecks).toEqual([]);
  });

  test("over 8 MiB a file is compared by its size alone", async () => {
    const { file, put, fares } = await newCheckout(await stackForTest(engine));
    const huge = file("huge", "a");
    truncateSync(huge, 9_000_000);
    await put("a", ["huge"]);
    writeFileSync(huge, "b");
    truncateSync(huge, 9_000_000);
    expect(await fares("a")).toEqual(["resolved"]);
    truncateSync(huge, 9_000_001);
    expect(await fares("a")).toEqual(["drifted content_differs"]);
  });

  test("a write looks at 32 MiB of files, and the rest has no baseline", async () => {
    const { file, put, fares } = await newCheckout(await stackForTest(engine));
    const names = oneTo(5).map((number) => `${number}.bin`);
    for (const name of names) truncateSync(file(name, name), 8 * 1024 * 1024);
    await put("a", names);
    const states = await fares("a");
    expect(states.at(-1)).toBe("resolved no_baseline");
  });
});

describe.each(engines)("roots on %s", (engine) => {
  test("without one every ref is unchecked", async () => {
    const { put, fares } = await newCheckout(await stackForTest(engine), { isAttached: false });
    await put("a", ["a.ts", [QUERY, "x"]]);
    expect(await fares("a")).toEqual(["unchecked no_root", "unchecked no_root"]);
  });

  test("the one attached first counts, unless a call names another", async () => {
    const { root, rootId, file, put, fares, attach } = await newCheckout(await stackForTest(engine));
    file("a.ts", "one");
    file("nested/b.ts", "one");
    const nested = await attach(join(root, "nested"));
    expect([rootId, nested]).toEqual([root, join(root, "nested")].map(rootIdFromPath));
    await put("a", ["a.ts", "b.ts"]);
    expect(await fares("a")).toEqual(["resolved", "dangling not_found"]);
    const inNested = await fares("a", { "memoryd-root": nested });
    expect(inNested).toEqual(["dangling not_found", "resolved no_baseline"]);
  });

  test("of a link is the folder that it leads to, and attaching again is fine", async () => {
    const stack = await stackForTest(engine);
    const { root, rootId, attach, workspace } = await newCheckout(stack);
    symlinkSync(root, `${root}-link`);
    expect(await attach(`${root}-link`)).toBe(rootId);
    expect(await attach()).toBe(rootId);
    expect(stack.rows("select path from memory_roots where workspace = ?", workspace)).toEqual([
      { path: root },
    ]);
  });

  test.each([
    ["relative/path", "invalid_argument"],
    ["", "invalid_argument"],
    ["/", "failed_precondition"],
    ["/no/such/folder", "failed_precondition"],
    ["/dev/null", "failed_precondition"],
  ])("%s is none", async (path, code) => {
    const { attach } = await newCheckout(await stackForTest(engine), { isAttached: false });
    const reason = code === "failed_precondition" ? { reason: "ROOT_UNUSABLE" } : { fields: ["path"] };
    expect(await refusalOf(attach(path))).toMatchObject({ code, ...reason });
  });

  test("are sixteen of a workspace at most", async () => {
    const { root, attach } = await newCheckout(await stackForTest(engine), { isAttached: false });
    const folders = oneTo(17).map((number) => join(root, String(number)));
    for (const folder of folders) mkdirSync(folder);
    for (const folder of folders.slice(0, 16)) await attach(folder);
    expect(await refusalOf(attach(folders[16]))).toMatchObject({
      code: "resource_exhausted",
      reason: "TOO_MANY_ROOTS",
    });
    await attach(folders[3]);
  });

  test("that are detached are no longer looked in", async () => {
    const { records, client } = await stackForTest(engine);
    const { rootId, file, put, fares, calling } = await newCheckout({ records, client });
    file("a.ts", "one");
    await put("a", ["a.ts"]);
    await records.detachRoot({ rootId }, calling());
    expect(await fares("a")).toEqual(["unchecked no_root"]);
    const again = (allowMissing: boolean) => records.detachRoot({ rootId, allowMissing }, calling());
    expect(await refusalOf(again(false))).toMatchObject({ code: "not_found", reason: "ROOT_NOT_FOUND" });
    await again(true);
    expect(await refusalOf(records.detachRoot({ rootId: "x" }, calling()))).toMatchObject({
      fields: ["root_id"],
    });
  });

  test("belong to one workspace, and to one daemon of those that share the data", async () => {
    const stack = await stackForTest(engine);
    const { rootId, put, fares, workspace } = await newCheckout(stack);
    const other = await newCheckout(stack, { isAttached: false });
    await other.put("a", ["a.ts"]);
    expect(await other.fares("a")).toEqual(["unchecked no_root"]);
    expect(await refusalOf(other.fares("a", { "memoryd-root": rootId }))).toMatchObject({
      code: "failed_precondition",
      reason: "ROOT_NOT_ATTACHED",
    });
    await put("a", ["a.ts"]);
    stack.run("update memory_roots set daemon = 'another' where workspace = ?", workspace);
    expect(await fares("a")).toEqual(["unchecked no_root"]);
  });

  test("are named on writes by metadata that must be right", async () => {
    const { client } = await stackForTest(engine);
    const update = (root: string) => client.updateMemory({}, { headers: { "memoryd-root": root } });
    expect(await refusalOf(update("ABC"))).toMatchObject({ fields: ["memoryd-root"] });
    expect(await refusalOf(update("0123456789ab"))).toMatchObject({ reason: "ROOT_NOT_ATTACHED" });
  });

  test("need the right admin", async () => {
    const stack = await stackForTest(engine, { caller: { user: "ana", right: "write" } });
    const { attach, root, calling } = await newCheckout(stack, { isAttached: false });
    const detach = stack.records.detachRoot({ rootId: rootIdFromPath(root) }, calling());
    for (const refused of [attach(), detach]) {
      expect(await refusalOf(refused)).toMatchObject({ code: "permission_denied" });
    }
  });

  test("give birth to a workspace that has no time of a write yet", async () => {
    const stack = await stackForTest(engine);
    const { workspace, rootId, put, calling } = await newCheckout(stack);
    const seen = async () => (await stack.records.listWorkspaces({}, calling())).workspaces;
    expect(await seen()).toMatchObject([{ workspace, recordCount: 0, rootIds: [rootId] }]);
    expect((await seen())[0]?.updateTime).toBeUndefined();
    await put("a", ["a.ts"]);
    expect((await seen())[0]?.updateTime).toBeDefined();
    expect(stack.rows("select position, epoch from memory_workspaces")).toMatchObject([{ position: 1 }]);
  });
});
