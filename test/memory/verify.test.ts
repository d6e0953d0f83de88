/**
 * VerifyRecords through the door (memory.md M80–M86; MV12, MV13, MV34 and MV59 as far as they speak of it):
 * each issue, their order, pages and budgets.
 */
import { rmSync, truncateSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { Severity, type VerifyRecordsResponse } from "../../gen/memoryd/records/v1/records_pb.js";
import { NODE, newCheckout } from "./checkout.js";
import { createTestClock, engines } from "./door.js";
import { refusalOf } from "./errors.js";
import { oneTo } from "./records.js";
import { stackForTest } from "./stack.js";

/** `error missing_reference a>b #0`: the severity, code, record, related and ref of each issue. */
const shown = ({ issues }: VerifyRecordsResponse): string[] =>
  issues.map(({ severity, code, record, related, refIndex }) => {
    const about = related === "" ? record : `${record}>${related}`;
    const ref = refIndex === undefined ? "" : ` #${refIndex}`;
    return `${Severity[severity]?.toLowerCase()} ${code} ${about}${ref}`;
  });

describe.each(engines)("on %s", (engine) => {
  test("nothing is wrong where nothing is", async () => {
    const { verify } = await newCheckout(await stackForTest(engine), { isAttached: false });
    expect(await verify()).toMatchObject({
      issues: [],
      recordsChecked: 0,
      refsChecked: 0,
      nextPageToken: "",
    });
  });

  test("MV12 references to itself and to nobody are told, each once", async () => {
    const { put, verify } = await newCheckout(await stackForTest(engine));
    await put("a", ["x"], { references: ["gone", "a", "b", "gone", "a", "never"] });
    await put("b", ["x"]);
    const expected = [
      "info self_reference a",
      "error missing_reference a>gone",
      "error missing_reference a>never",
    ];
    expect(shown(await verify({ checkRefs: false }))).toEqual(expected);
  });

  test.each([" Stale ", "stale", "STALE", "\u00a0stale", "\u017ftale"])(
    "MV13 the status %j is warned of",
    async (status) => {
      const { put, verify } = await newCheckout(await stackForTest(engine));
      await put("a", ["x"], { status });
      await put("b", ["x"], { status: "stale-ish" });
      expect(shown(await verify({ checkRefs: false }))).toEqual(["warning stale_status a"]);
    },
  );

  test("MV34 a deleted record is missed by each that references it", async () => {
    const stack = await stackForTest(engine);
    const { put, verify, calling } = await newCheckout(stack);
    for (const name of ["a", "c"]) await put(name, ["x"], { references: ["b"] });
    await put("b", ["x"]);
    expect(shown(await verify({ checkRefs: false }))).toEqual([]);
    await stack.client.deleteMemory({ name: "b" }, calling());
    const expected = ["error missing_reference a>b", "error missing_reference c>b"];
    expect(shown(await verify({ checkRefs: false }))).toEqual(expected);
  });

  test("MV59 nearly equal names are told once, on the younger", async () => {
    const { put, verify } = await newCheckout(await stackForTest(engine));
    const names = [
      "cachekey",
      "cache-key",
      "key-cache",
      "retry-budgets",
      "retry-budget",
      "adr-0012",
      "adr-0013",
    ];
    for (const name of names) await put(name, ["x"]);
    const expected = [
      "warning near_duplicate_name cache-key>cachekey",
      "warning near_duplicate_name key-cache>cache-key",
      "warning near_duplicate_name retry-budget>retry-budgets",
    ];
    expect(shown(await verify({ checkRefs: false }))).toEqual(expected);
    const two = { checkRefs: false, names: ["retry-budgets", "key-cache"] };
    expect(shown(await verify(two))).toEqual([expected[1]]);
  });

  test("of names that were born in one moment the later in the alphabet is the younger", async () => {
    const clock = createTestClock(1_000_000);
    const { put, verify } = await newCheckout(await stackForTest(engine, { clock }));
    for (const name of ["retry-budgets", "retry-budget"]) await put(name, ["x"]);
    expect(shown(await verify({ checkRefs: false }))).toEqual([
      "warning near_duplicate_name retry-budgets>retry-budget",
    ]);
  });

  test("refs are told by how they fare; only what somebody can change of the unchecked ones", async () => {
    const { file, put, verify } = await newCheckout(await stackForTest(engine));
    const gone = file("gone.ts", "one");
    file("a.ts", "one");
    file("same.ts", "one");
    await put("a", ["../up", "a.ts", "gone.ts", [NODE, "crate:serde"], "same.ts", "never.ts"]);
    rmSync(gone);
    file("a.ts", "two");
    const answer = await verify();
    expect(shown(answer)).toEqual([
      "error dangling_ref a #2",
      "error dangling_ref a #5",
      "warning drifted_ref a #1",
      "info unchecked_ref a #0",
    ]);
    expect(answer).toMatchObject({ recordsChecked: 1, refsChecked: 6 });
    expect(answer.issues[2]?.refCheck).toMatchObject({ index: 1, state: 2, reason: "content_differs" });
    expect(answer.issues[2]?.message).toBe("Ref 1 names a file that changed since the record was written.");
    expect(shown(await verify({ checkRefs: false }))).toEqual([]);
    expect((await verify({ checkRefs: false })).refsChecked).toBe(0);
  });

  test("an unreadable row is an error, in its place among the others", async () => {
    const stack = await stackForTest(engine);
    const { put, verify } = await newCheckout(stack);
    for (const name of ["a", "b", "c"]) await put(name, ["x"], { references: ["b", "none"] });
    stack.run("update memory_records set type = 9 where name = 'b'");
    const answer = await verify({ checkRefs: false });
    expect(shown(answer)).toEqual([
      "error missing_reference a>none",
      "error unreadable_record b",
      "error missing_reference c>none",
    ]);
    expect(answer.recordsChecked).toBe(3);
  });

  test("lesser issues are left out when they are not asked for", async () => {
    const { put, verify } = await newCheckout(await stackForTest(engine));
    await put("a", ["x"], { references: ["a", "gone"], status: "stale" });
    const codes = async (minSeverity: Severity) =>
      (await verify({ checkRefs: false, minSeverity })).issues.map(({ code }) => code);
    const all = ["stale_status", "self_reference", "missing_reference"];
    expect(await codes(Severity.UNSPECIFIED)).toEqual(all);
    expect(await codes(Severity.INFO)).toEqual(all);
    expect(await codes(Severity.WARNING)).toEqual(["stale_status", "missing_reference"]);
    expect(await codes(Severity.ERROR)).toEqual(["missing_reference"]);
  });

  test("some records are verified by their names, in byte order, and an absent one is told with those near it", async () => {
    const { put, verify } = await newCheckout(await stackForTest(engine));
    for (const name of ["a", "b", "cache-key"]) await put(name, ["x"], { references: ["none"] });
    const answer = await verify({ checkRefs: false, names: ["b", "a", "b"] });
    expect(shown(answer)).toEqual(["error missing_reference a>none", "error missing_reference b>none"]);
    expect(answer.recordsChecked).toBe(2);
    expect(await refusalOf(verify({ names: ["a", "cache-kay"] }))).toEqual({
      code: "not_found",
      reason: "RECORD_NOT_FOUND",
      metadata: { nearest: "cache-key" },
    });
  });

  test.each([
    [{ names: ["A"] }, ["names[0]"]],
    [{ names: oneTo(101).map((number) => `n${number}`) }, ["names"]],
    [{ minSeverity: 9 as Severity }, ["min_severity"]],
    [{ pageSize: -1 }, ["page_size"]],
    [{ pageToken: "zzz" }, ["page_token"]],
  ])("%j is refused", async (request, fields) => {
    const { verify } = await newCheckout(await stackForTest(engine));
    expect(await refusalOf(verify(request))).toMatchObject({ code: "invalid_argument", fields });
  });

  test("pages show every record once, and their tokens are theirs alone", async () => {
    const { put, verify } = await newCheckout(await stackForTest(engine));
    const names = oneTo(7).map((number) => `n${number}`);
    for (const name of names) await put(name, ["x"], { references: ["none"] });
    const seen: string[] = [];
    const counts: number[] = [];
    for (let pageToken = ""; ; ) {
      const page = await verify({ pageSize: 3, pageToken });
      seen.push(
        ...page.issues.filter(({ code }) => code === "missing_reference").map(({ record }) => record),
      );
      counts.push(page.recordsChecked);
      pageToken = page.nextPageToken;
      if (pageToken === "") break;
      const other = verify({ checkRefs: false, pageSize: 3, pageToken });
      expect(await refusalOf(other)).toMatchObject({ reason: "INVALID_PAGE_TOKEN" });
    }
    expect([seen, counts]).toEqual([names, [3, 3, 1]]);
    const named = await verify({ names, pageSize: 4 });
    expect((await verify({ names, pageSize: 4, pageToken: named.nextPageToken })).recordsChecked).toBe(3);
  });

  test("a page ends where its answer would be too large", async () => {
    const { put, verify } = await newCheckout(await stackForTest(engine), { isAttached: false });
    const long = (start: string, number: number) => `${start}-${number}-`.padEnd(127, "x").concat("y");
    const references = oneTo(64).map((number) => long("gone", number));
    for (const number of oneTo(60)) await put(long("n", number), ["x"], { references });
    const first = await verify({ checkRefs: false });
    expect(first.recordsChecked).toBeLessThan(60);
    expect(first.recordsChecked).toBeGreaterThan(20);
    const second = await verify({ checkRefs: false, pageToken: first.nextPageToken });
    expect(first.recordsChecked + second.recordsChecked).toBe(60);
    expect(second.nextPageToken).toBe("");
  });

  test("a record that takes more than the budget alone is answered as far as it goes", async () => {
    const { file, put, verify } = await newCheckout(await stackForTest(engine));
    truncateSync(file("big.c", "big "), 8 * 1024 * 1024);
    await put(
      "a",
      oneTo(40).map(() => [NODE, "symbol:big.c#big"] as const),
    );
    await put("b", [[NODE, "symbol:big.c#big"]]);
    const first = await verify();
    expect(first.recordsChecked).toBe(1);
    expect(first.refsChecked).toBeLessThanOrEqual(32);
    const second = await verify({ pageToken: first.nextPageToken });
    expect(second).toMatchObject({ recordsChecked: 1, refsChecked: 1, nextPageToken: "" });
  });

  test("a page ends where its budget of bytes does, and the next goes on from there", async () => {
    const { file, put, verify } = await newCheckout(await stackForTest(engine));
    const names = oneTo(40).map((number) => `n${String(number).padStart(2, "0")}`);
    for (const name of names) {
      truncateSync(file(`${name}.c`, `${name} `), 8 * 1024 * 1024);
      await put(name, [[NODE, `symbol:${name}.c#${name}`]]);
    }
    const counts: number[] = [];
    for (let pageToken = ""; ; ) {
      const page = await verify({ pageToken });
      expect(page.issues).toEqual([]);
      counts.push(page.recordsChecked);
      pageToken = page.nextPageToken;
      if (pageToken === "") break;
    }
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(40);
    expect(counts.length).toBeGreaterThan(1);
    expect(Math.max(...counts)).toBeLessThanOrEqual(32);
  });
});
