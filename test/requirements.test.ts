/**
 * Compares the promises in `test/requirements.ts` with the tests: what is called proven is named by a test that
 * runs, and every id that a test names is in the list. What waits for a milestone is counted and printed.
 */
import { describe, expect, test } from "vitest";
import { openProject, type SourceFile } from "./architecture/project.js";
import { milestones, type Rule } from "./requirements/types.js";
import { daemonRules, memoryVectors, requirements } from "./requirements.js";

const isList = (path: string): boolean => /^test\/(requirements|architecture)/.test(path);

const testFiles = openProject().filter(({ path }) => path.startsWith("test/") && !isList(path));
const filesByPath = new Map(testFiles.map((file) => [file.path, file]));

/** The test files and what they import, directly or not: a suite that nobody runs proves nothing. */
function reachableFiles(): readonly SourceFile[] {
  const reached = new Set(testFiles.filter(({ path }) => path.endsWith(".test.ts")));
  for (const file of reached) {
    for (const { target } of file.imports) {
      const next = target === undefined ? undefined : filesByPath.get(target);
      if (next !== undefined) reached.add(next);
    }
  }
  return [...reached];
}

const running = reachableFiles().filter(({ path }) => path !== "test/support/verifies.ts");

/** Each call of `verifies` with its first argument, or `undefined` for one that is no literal text. */
const named = running.flatMap(({ path, code }) =>
  code.flatMap((token, index) => {
    const isCall = token.kind === "word" && token.text === "verifies" && code[index + 1]?.text === "(";
    const argument = code[index + 2];
    const id = argument?.kind === "string" ? argument.text : undefined;
    return isCall ? [{ id, where: `${path}:${token.line}` }] : [];
  }),
);

const repeated = (ids: readonly string[]): readonly string[] =>
  ids.filter((id, index) => ids.indexOf(id) !== index);

/** All numbered words such as MV12 or D5 in a text. */
const numbersIn = (text: string): readonly string[] => text.match(/\b[A-Z]{1,2}\d+\b/g) ?? [];

/** Numbers in the titles and tables of tests, which are texts in the code and not its comments. */
const numbersInCode = ({ code }: SourceFile): readonly string[] =>
  code.filter(({ kind }) => kind === "string" || kind === "template").flatMap(({ text }) => numbersIn(text));

const namedIds = named.flatMap(({ id }) => (id === undefined ? [] : [id]));
const namedVectors = new Set([
  ...namedIds,
  ...running.filter(({ path }) => /^test\/(memory|contracts|e2e|client)\//.test(path)).flatMap(numbersInCode),
  ...testFiles.filter(({ path }) => path.startsWith("test/vectors/")).flatMap(({ text }) => numbersIn(text)),
]);
const namedRules = new Set(running.flatMap(({ text }) => numbersIn(text)));

const ids = (prefix: string, numbers: readonly number[]): readonly string[] =>
  numbers.map((number) => `${prefix}${number}`);
const fromTo = (first: number, last: number): readonly number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

const sorted = (list: readonly Rule[]): readonly Rule[] =>
  [...list].sort((a, b) => Number(a.id.replace(/\D+/, "")) - Number(b.id.replace(/\D+/, "")));

const unnamed = (list: readonly Rule[], names: ReadonlySet<string>): readonly string[] =>
  list.filter(({ id, state }) => state !== "deferred" && !names.has(id)).map(({ id }) => id);

const missingMilestones = (list: readonly Rule[]): readonly string[] =>
  list.filter((rule) => rule.state !== "proven" && Object.keys(rule.waits).length === 0).map(({ id }) => id);

describe("the sentences of the seeds", () => {
  test("each has an id of its own, with its document's prefix", () => {
    expect(repeated(requirements.map(({ id }) => id))).toEqual([]);
    const prefixes = {
      "memory-service": "memory",
      "agent-scoped-memory": "recall",
      memsync: "memsync",
      "project-memory-api": "projects",
    };
    const pattern = /^[a-z]+(\.[a-z0-9]+(-[a-z0-9]+)*)+$/;
    const odd = requirements.filter(
      ({ id, seed }) => !id.startsWith(`${prefixes[seed]}.`) || !pattern.test(id),
    );
    expect(odd).toEqual([]);
  });

  test("each says something of its own", () => {
    expect(repeated(requirements.map(({ id, sentence }) => `${id.split(".")[0]}: ${sentence}`))).toEqual([]);
  });

  test("each that is deferred waits for a milestone that exists", () => {
    const lost = requirements.filter(
      (requirement) => requirement.state === "deferred" && !milestones.includes(requirement.until),
    );
    expect(lost).toEqual([]);
  });

  test("each that is proven is named by a test that runs", () => {
    const proofs = new Set(namedIds);
    const missing = requirements.filter(({ id, state }) => state === "proven" && !proofs.has(id));
    expect(missing.map(({ id }) => id)).toEqual([]);
  });

  test("each id that a test names is a literal and in the list, and not still deferred", () => {
    const listed = [...requirements, ...memoryVectors, ...daemonRules];
    const provenIds = new Set(listed.filter(({ state }) => state !== "deferred").map(({ id }) => id));
    const stray = named.filter(({ id }) => id === undefined || !provenIds.has(id));
    expect(stray).toEqual([]);
  });
});

describe("the vectors of the memory specification", () => {
  test("MV1 to MV68 are listed once each", () => {
    expect(sorted(memoryVectors).map(({ id }) => id)).toEqual(ids("MV", fromTo(1, 68)));
  });

  test("each that is proven, if in part, is named by a test or a vector file", () => {
    expect(unnamed(memoryVectors, namedVectors)).toEqual([]);
  });

  test("each that waits names a milestone", () => {
    expect(missingMilestones(memoryVectors)).toEqual([]);
  });
});

describe("the rules of the daemon", () => {
  test("D1 to D23 and D26 to D30 are listed once each", () => {
    const expected = ids("D", [...fromTo(1, 23), ...fromTo(26, 30)]);
    expect(sorted(daemonRules).map(({ id }) => id)).toEqual(expected);
  });

  test("each that is proven, if in part, is named by a test", () => {
    expect(unnamed(daemonRules, namedRules)).toEqual([]);
  });

  test("each that waits names a milestone", () => {
    expect(missingMilestones(daemonRules)).toEqual([]);
  });
});

test("the counts are printed", () => {
  const count = (list: readonly { readonly state: string }[], state: string): number =>
    list.filter((item) => item.state === state).length;
  const waiting = milestones.map((milestone) => {
    const sentences = requirements.filter((item) => item.state === "deferred" && item.until === milestone);
    return `${milestone} ${sentences.length}`;
  });
  const lines = [
    `sentences: ${count(requirements, "proven")} proven, ${count(requirements, "deferred")} deferred (${waiting.join(", ")})`,
    ...[
      { name: "vectors", list: memoryVectors },
      { name: "daemon rules", list: daemonRules },
    ].map(
      ({ name, list }) =>
        `${name}: ${count(list, "proven")} proven, ${count(list, "partly")} in part, ${count(list, "deferred")} deferred`,
    ),
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
  expect(requirements.length).toBeGreaterThan(0);
});
