/** `memoryd memory search` against a real daemon, whose database is a file. */
import { describe, expect, test } from "vitest";
import { daemonOfFile } from "../support/daemon.js";
import { memoryd, type RunOptions } from "./command-line.js";

const daemon = daemonOfFile();

/** Runs `memoryd memory …` in a workspace of the test's own. */
const within =
  (workspace: string) =>
  (args: readonly string[], options: RunOptions = {}) =>
    memoryd(["memory", ...args, "--data-dir", daemon().folder], {
      ...options,
      variables: { MEMORYD_WORKSPACE: workspace, ...options.variables },
    });

type Memory = ReturnType<typeof within>;

async function writeThree(memory: Memory): Promise<void> {
  const put = (name: string, type: string, ref: string, ...rest: readonly string[]) =>
    memory(["put", name, "--type", type, "--ref", ref, ...rest]);
  await put("cache-key", "decision", "node:file:src/cache.ts", "--body", "Keys of parseHTTPHeader.");
  await put("retry", "plan", "doc:docs/a.md", "--status", "Active", "--reference", "cache-key");
  await put("header", "pointer", "doc:docs/b.md", "--status", "\u202eodd");
}

const namesIn = (stdout: string): string[] =>
  stdout
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) => line.split(" ")[0] ?? "");

describe("search", () => {
  test("shows the best first as a table, with what a terminal would obey made visible", async () => {
    const memory = within("table");
    await writeThree(memory);
    const { code, stdout } = await memory(["search", "http", "header"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^NAME +TYPE +STATUS +UPDATED +FIRST REF\n/);
    expect(namesIn(stdout).sort()).toEqual(["cache-key", "header"]);
    expect(stdout).toContain("\\u{202e}odd");
  });

  test("takes filters, with words and without", async () => {
    const memory = within("filters");
    await writeThree(memory);
    const found = async (...args: readonly string[]) => namesIn((await memory(["search", ...args])).stdout);
    expect(await found()).toEqual(["header", "retry", "cache-key"]);
    expect(await found("--type", "plan", "--type", "decision")).toEqual(["retry", "cache-key"]);
    expect(await found("--status", "active")).toEqual(["retry"]);
    expect(await found("--status", "")).toEqual(["cache-key"]);
    expect(await found("--ref-target", "docs/")).toEqual(["header", "retry"]);
    expect(await found("--ref-kind", "node")).toEqual(["cache-key"]);
    expect(await found("--references", "cache-key")).toEqual(["retry"]);
    expect(await found("docs", "--type", "pointer")).toEqual(["header"]);
  });

  test("says why, and how much of the score each word gave", async () => {
    const memory = within("why");
    await writeThree(memory);
    const { stdout } = await memory(["search", "cache", "key", "walrus", "--explain"]);
    expect(stdout).toMatch(
      /^cache-key {2}[\d.e-]+\n {2}cache +in name, targets +\d+ +\d+%\n {2}key +in name, body/,
    );
    expect(stdout).toContain("without walrus");
    expect((await memory(["search", "--explain"])).stdout).toMatch(/^NAME/);
  });

  test("answers a program with the contract's JSON, over as many pages as it takes", async () => {
    const memory = within("json");
    const records = Array.from({ length: 105 }, (_, n) => `n${n}`);
    for (const name of records) {
      await memory(["put", name, "--type", "pointer", "--ref", "doc:walrus.md"]);
    }
    const { stdout, json } = await memory(["search", "walrus", "--limit", "103", "--json"]);
    expect(stdout.trimEnd()).not.toContain("\n");
    const answer = json() as { hits: { record: { memory: { name: string } } }[]; totalSize: number };
    expect([answer.hits.length, answer.totalSize]).toEqual([103, 105]);
    expect(new Set(answer.hits.map(({ record }) => record.memory.name)).size).toBe(103);
    const few = await memory(["search", "walrus", "-n", "2"]);
    expect(few.stderr).toContain("2 of 105 records; --limit shows more.");
  });

  test("says when nothing matches, and refuses what is no filter", async () => {
    const memory = within("nothing");
    const nothing = await memory(["search", "walrus"]);
    expect([nothing.code, nothing.stdout]).toEqual([0, ""]);
    expect(nothing.stderr).toContain("No record of this workspace matches");
    for (const args of [
      ["--type", "note"],
      ["--ref-kind", "x"],
      ["--limit", "0"],
      ["--references", "A b"],
    ]) {
      expect((await memory(["search", ...args])).code, args.join(" ")).toBe(2);
    }
  });
});
