/**
 * Runs the vector files of `test/vectors/memory`; their README is the definition of the format. A vector is a
 * list of steps with patterns for what comes back; a word such as `$stored` stands for whatever came at its
 * first place and must be the same at every later one.
 */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { create, fromBinary, fromJson, type JsonValue, toBinary, toJson } from "@bufbuild/protobuf";
import { FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import { expect } from "vitest";
import type { Answer, Calls, Metadata, TestClock } from "./door.js";
import { refusalFromBody, wordsFromBody } from "./errors.js";
import { methodNamed } from "./methods.js";

type JsonObject = { readonly [key: string]: JsonValue };

export type Step = {
  /** The machine's time from here on. */
  readonly clock?: string;
  /** A method; or one of the short forms `put`, `names` and `search`. */
  readonly call?: string;
  readonly put?: JsonValue;
  readonly names?: JsonValue;
  readonly search?: JsonValue;
  readonly found?: JsonValue;
  readonly ranked?: JsonValue;
  readonly total?: number;
  readonly words?: JsonValue;
  readonly request?: JsonValue;
  readonly wire?: "binary";
  readonly maskPaths?: JsonValue;
  readonly workspace?: string | null;
  readonly ifUpdateTime?: JsonValue;
  readonly metadata?: readonly (readonly [string, string])[];
  readonly answer?: JsonValue;
  readonly refused?: JsonValue;
  readonly reason?: string;
  readonly error?: JsonValue;
  readonly unreadable?: true;
  readonly header?: JsonObject;
  readonly told?: readonly JsonValue[];
  readonly untold?: readonly JsonValue[];
  readonly later?: readonly [JsonValue, JsonValue];
};

export type Vector = {
  readonly id: string;
  readonly title: string;
  readonly each?: Readonly<Record<string, readonly JsonValue[]>>;
  readonly steps: readonly Step[];
};

export type VectorFile = {
  readonly about: string;
  readonly let?: JsonObject;
  readonly vectors: readonly Vector[];
};

export type VectorCase = { readonly title: string; readonly vector: Vector; readonly bound: JsonObject };

const folder = new URL("../vectors/memory/", import.meta.url);

/** The files of vectors, parsed. */
export const vectorFiles: readonly VectorFile[] = readdirSync(fileURLToPath(folder))
  .filter((name) => name.endsWith(".json"))
  .map((name) => JSON.parse(readFileSync(new URL(name, folder), "utf8")) as VectorFile);

const shownCharacters = 48;

function titleOf(value: JsonValue): string {
  const text = JSON.stringify(value);
  return text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text;
}

/** The tests of a vector: one, or one for each value of its table. */
export function casesOf(vector: Vector, file: VectorFile): VectorCase[] {
  const bound = file.let ?? {};
  const title = `${vector.id} ${vector.title}`;
  if (vector.each === undefined) return [{ title, vector, bound }];
  const columns = Object.entries(vector.each);
  const rows = columns[0]?.[1].length ?? 0;
  return Array.from({ length: rows }, (_, row) => {
    const values = columns.map(([name, column]) => [name, column[row] ?? null] as const);
    return {
      title: `${title}: ${titleOf(values[0]?.[1] ?? null)}`,
      vector,
      bound: { ...bound, ...Object.fromEntries(values) },
    };
  });
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isVariable = (value: JsonValue): value is string =>
  typeof value === "string" && /^\$[a-z][A-Za-z0-9]*$/.test(value);
const asText = (value: JsonValue): string =>
  typeof value === "string" ? value : expect.fail("the vector file has no text where one belongs");

/** The values that the words of one run stand for. */
function createBindings(initial: JsonObject) {
  const bound = new Map<string, JsonValue>(Object.entries(initial));

  /** `{"$text": […]}` and `{"$repeat": [value, count]}`. */
  const made = (value: JsonObject): JsonValue | undefined => {
    if (Array.isArray(value.$text)) {
      const part = (item: JsonValue): string =>
        Array.isArray(item) ? asText(filled(item[0] ?? null)).repeat(Number(item[1])) : asText(filled(item));
      return value.$text.map(part).join("");
    }
    if (Array.isArray(value.$repeat)) {
      const [item, count] = value.$repeat;
      return Array.from({ length: Number(count) }, () => filled(item ?? null));
    }
    return undefined;
  };

  /** `{"$with": [record, changes]}` as one object, with the words in it as they are. */
  const merged = (value: JsonValue): JsonObject => {
    if (isVariable(value))
      return merged(bound.get(value.slice(1)) ?? expect.fail(`${value} stands for nothing yet`));
    if (!isObject(value)) return expect.fail("the vector file has no object where one belongs");
    return Array.isArray(value.$with) ? Object.assign({}, ...value.$with.map(merged)) : value;
  };

  const members = (value: JsonObject, member: (item: JsonValue, name: string) => JsonValue): JsonObject =>
    Object.fromEntries(Object.entries(value).map(([name, item]) => [name, member(item, name)]));

  /** A value to send; every word must stand for something by now. */
  function filled(value: JsonValue): JsonValue {
    if (isVariable(value)) {
      const known = bound.get(value.slice(1));
      return known === undefined ? expect.fail(`${value} stands for nothing yet`) : filled(known);
    }
    if (Array.isArray(value)) return value.map(filled);
    return isObject(value) ? (made(value) ?? members(merged(value), filled)) : value;
  }

  /** What the pattern expects, with the words that are new bound to what came. */
  function expected(pattern: JsonValue, actual: JsonValue | undefined): JsonValue {
    if (isVariable(pattern)) {
      const name = pattern.slice(1);
      if (!bound.has(name) && actual !== undefined) bound.set(name, actual);
      return bound.has(name) ? filled(pattern) : pattern;
    }
    if (Array.isArray(pattern)) {
      return pattern.map((item, index) => expected(item, Array.isArray(actual) ? actual[index] : undefined));
    }
    if (!isObject(pattern)) return pattern;
    return (
      made(pattern) ??
      members(merged(pattern), (item, name) => expected(item, isObject(actual) ? actual[name] : undefined))
    );
  }

  return { filled, expected };
}

type Bindings = ReturnType<typeof createBindings>;

/** A short form written out. */
function spelledOut(step: Step): Step {
  if (step.put !== undefined) {
    return { ...step, call: "UpdateMemory", request: { memory: step.put, allowMissing: true } };
  }
  if (step.search !== undefined) {
    const isRequest = isObject(step.search) && !("$text" in step.search);
    return { ...step, call: "SearchRecords", request: isRequest ? step.search : { query: step.search } };
  }
  return step.names === undefined ? step : { ...step, call: "ListMemories", request: {} };
}

function metadataOf(step: Step, workspace: string, { filled }: Bindings): Metadata {
  const pairs: [string, string][] = [];
  if (step.workspace !== null) {
    pairs.push([
      "memoryd-workspace",
      step.workspace === undefined ? workspace : `${workspace}-${step.workspace}`,
    ]);
  }
  if (step.ifUpdateTime !== undefined)
    pairs.push(["memoryd-if-update-time", asText(filled(step.ifUpdateTime))]);
  for (const [name, value] of step.metadata ?? []) pairs.push([name, asText(filled(value))]);
  return pairs;
}

/** The request in binary, with mask paths that JSON may have no spelling for. */
function binaryRequest(step: Step, request: JsonValue, { filled }: Bindings): Uint8Array {
  const { input } = methodNamed(step.call ?? "");
  const message = fromJson(input, request);
  if (step.maskPaths === undefined) return toBinary(input, message);
  const updateMask = create(FieldMaskSchema, { paths: filled(step.maskPaths) as string[] });
  return toBinary(input, Object.assign(message, { updateMask }));
}

function jsonOf(step: Step, answer: Answer): JsonValue {
  const text = Buffer.from(answer.body).toString("utf8");
  if (answer.status !== 200) expect.fail(`${step.call} was refused: ${text}`);
  if (step.wire === undefined) return JSON.parse(text) as JsonValue;
  const { output } = methodNamed(step.call ?? "");
  return toJson(output, fromBinary(output, answer.body));
}

function checkRefusal(step: Step, answer: Answer, { filled, expected }: Bindings): void {
  const text = Buffer.from(answer.body).toString("utf8");
  if (answer.status === 200) expect.fail(`${step.call} was answered: ${text}`);
  const refusal = refusalFromBody(text) as unknown as JsonValue;
  if (step.unreadable === true) {
    expect(refusal).toMatchObject({ code: "invalid_argument" });
    return;
  }
  const pattern = step.error ?? {
    code: "invalid_argument",
    reason: step.reason ?? "INVALID_ARGUMENT",
    fields: step.refused ?? null,
  };
  expect(refusal).toEqual(expected(pattern, refusal));
  const words = wordsFromBody(text);
  for (const word of step.told ?? []) expect(words).toContain(asText(filled(word)));
  for (const word of step.untold ?? []) expect(words).not.toContain(asText(filled(word)));
}

type SearchJson = {
  readonly hits?: readonly { readonly record: { readonly memory: { readonly name: string } } }[];
  readonly totalSize?: number;
  readonly words?: readonly string[];
};

function checkSearch(step: Step, json: JsonValue, { filled }: Bindings): void {
  const { hits = [], totalSize = 0, words = [] } = json as SearchJson;
  const names = hits.map(({ record }) => record.memory.name);
  if (step.ranked !== undefined) expect(names).toEqual(filled(step.ranked));
  if (step.found !== undefined)
    expect([...names].sort()).toEqual([...(filled(step.found) as string[])].sort());
  if (step.total !== undefined) expect(totalSize).toBe(step.total);
  if (step.words !== undefined) expect(words).toEqual(filled(step.words));
}

function checkAnswer(step: Step, answer: Answer, { filled, expected }: Bindings): void {
  const json = jsonOf(step, answer);
  if (step.names !== undefined) {
    const { memories = [] } = json as { memories?: { name: string }[] };
    expect(memories.map(({ name }) => name)).toEqual(filled(step.names));
  } else if (step.search !== undefined) {
    checkSearch(step, json, { filled, expected });
  } else if (step.answer !== undefined) {
    expect(json).toEqual(expected(step.answer, json));
  }
  for (const [name, pattern] of Object.entries(step.header ?? {})) {
    const value = answer.header.get(name);
    expect({ [name]: value }).toEqual({ [name]: expected(pattern, value) });
  }
}

async function runStep(step: Step, workspace: string, door: VectorDoor, bindings: Bindings): Promise<void> {
  const request = bindings.filled(step.request ?? {});
  const body = step.wire === undefined ? JSON.stringify(request) : binaryRequest(step, request, bindings);
  const answer = await door.post(step.call ?? "", body, metadataOf(step, workspace, bindings));
  if ((step.refused ?? step.error ?? step.unreadable) !== undefined) checkRefusal(step, answer, bindings);
  else checkAnswer(step, answer, bindings);
}

/** All that a vector needs of a door. */
export type VectorDoor = Pick<Calls, "post">;

/** Whether a case can run where nobody can set the clock. */
export const needsClock = ({ vector }: VectorCase): boolean =>
  vector.steps.some(({ clock }) => clock !== undefined);

let runs = 0;

/** Runs one case in a workspace of its own. */
export async function runCase(
  { vector, bound }: VectorCase,
  door: VectorDoor,
  clock?: TestClock,
): Promise<void> {
  runs += 1;
  const workspace = `${vector.id.toLowerCase()}-${runs}`;
  const bindings = createBindings(bound);
  clock?.set(undefined);
  for (const step of vector.steps) {
    if (step.clock !== undefined) clock?.set(Date.parse(asText(bindings.filled(step.clock))));
    if (step.later !== undefined) {
      const [later, earlier] = step.later.map((time) => Date.parse(asText(bindings.filled(time))));
      expect(later).toBeGreaterThan(earlier ?? Number.NaN);
    }
    const whole = spelledOut(step);
    if (whole.call !== undefined) await runStep(whole, workspace, door, bindings);
  }
}
