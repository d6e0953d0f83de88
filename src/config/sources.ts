/**
 * Where options are written: flags, variables and the file `config.json`, each read into a map by option key
 * that remembers its place. Unknown names are faults that suggest the nearest known one; whether a value is
 * legal is asked later, by `values.ts`.
 */
import { distance } from "fastest-levenshtein";
import type { FieldViolation } from "../kernel/errors.js";
import type { Environment } from "./env.js";
import { readFileIfThere } from "./files.js";
import type { Source } from "./formats.js";
import type { Option } from "./option.js";
import { options } from "./options.js";

/** A value as it was written; `from` names the place in a sentence. */
export type Written = { readonly value: unknown; readonly source: Source; readonly from: string };

export type WrittenValues = ReadonlyMap<string, Written>;

const optionByKey: ReadonlyMap<string, Option> = new Map(options.map((option) => [option.key, option]));
const optionByVariable: ReadonlyMap<string, Option> = new Map(options.map((option) => [option.env, option]));
const longestSuggestionDistance = 4;

/** Names the nearest known name, or where to look when nothing is near. */
function suggestionFor(name: string, known: Iterable<string>): string {
  let best: { name: string; steps: number } | undefined;
  for (const candidate of known) {
    const steps = candidate.endsWith(`.${name}`) ? 1 : distance(name, candidate);
    if (steps < (best?.steps ?? longestSuggestionDistance + 1)) best = { name: candidate, steps };
  }
  return best === undefined ? "memoryd serve --help lists those there are" : `perhaps ${best.name} is meant`;
}

/** The file's members by dotted key: `{"listen": {"socket": false}}` and `{"listen.socket": false}` are the same. */
function flatten(value: object, prefix: string, into: [string, unknown][]): [string, unknown][] {
  for (const [name, member] of Object.entries(value)) {
    const key = `${prefix}${name}`;
    const isGroup = typeof member === "object" && member !== null && !Array.isArray(member);
    if (isGroup && !optionByKey.has(key)) flatten(member, `${key}.`, into);
    else into.push([key, member]);
  }
  return into;
}

export function readConfigFile(file: string, faults: FieldViolation[]): WrittenValues {
  const values = new Map<string, Written>();
  const fault = (field: string, description: string): void => void faults.push({ field, description });
  let content: string | undefined;
  try {
    content = readFileIfThere(file);
  } catch {
    fault(file, "cannot be read; check its permissions");
  }
  if (content === undefined) return values;
  let parsed: unknown;
  try {
    parsed = JSON.parse(content);
  } catch {
    fault(file, "is not JSON; correct it or move it away");
    return values;
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    fault(file, "must hold one JSON object of options");
    return values;
  }
  for (const [key, value] of flatten(parsed, "", [])) {
    const option = optionByKey.get(key);
    if (option === undefined)
      fault(key, `(in ${file}) is no option; ${suggestionFor(key, optionByKey.keys())}`);
    else if (option.notInFile) fault(key, `(in ${file}) cannot be set there; use ${option.env}`);
    else if (values.has(key)) fault(key, `(in ${file}) is set twice; keep one`);
    else values.set(key, { value, source: "file", from: `in ${file}` });
  }
  return values;
}

export function readVariables(environment: Environment, faults: FieldViolation[]): WrittenValues {
  const values = new Map<string, Written>();
  for (const [name, value] of Object.entries(environment.variables)) {
    if (!name.startsWith("MEMORYD_")) continue;
    const option = optionByVariable.get(name);
    if (option !== undefined) values.set(option.key, { value, source: "variable", from: `from ${name}` });
    else {
      const description = `is no variable of memoryd; ${suggestionFor(name, optionByVariable.keys())}`;
      faults.push({ field: name, description });
    }
  }
  return values;
}

export function readFlags(flags: Readonly<Record<string, unknown>>, faults: FieldViolation[]): WrittenValues {
  const values = new Map<string, Written>();
  for (const [key, value] of Object.entries(flags)) {
    if (value === undefined) continue;
    const option = optionByKey.get(key);
    if (option === undefined) {
      faults.push({ field: key, description: `is no option; ${suggestionFor(key, optionByKey.keys())}` });
    } else values.set(key, { value, source: "flag", from: `from ${option.flag ?? "the program"}` });
  }
  return values;
}
