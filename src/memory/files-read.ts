/**
 * Records and the cursor as files, the reading half (memory.md M88, M89): bytes to what an import would store,
 * or to why a person must look at the file. Pure, and no fault quotes the file.
 *
 * | first that applies | reason |
 * | --- | --- |
 * | the path is none of `cursor.md`, `NAME.md`, `records/NAME.md` | `bad_path` |
 * | over 1,048,576 bytes | `too_large` |
 * | not UTF-8 | `invalid_record` |
 * | no line `---` at the top, or none that ends it | `no_front_matter` |
 * | not the YAML of `files-yaml.ts` | `bad_yaml` |
 * | a name that is not the file's | `name_mismatch` |
 * | a type or kind of ref outside the contract | `unknown_type` |
 * | a field that is no legal value (M11–M18), keys in a ref besides its own | `invalid_record` |
 * | unknown keys over 16,384 bytes | `too_large` |
 */
import type { FieldViolation } from "../kernel/errors.js";
import { type ExtraEntry, extraBytes, extraFromEntries } from "./extra.js";
import { knownKeys, placeFromPath, quoted, type RecordFile } from "./files-format.js";
import { parseYaml, type YamlMap, type YamlNode } from "./files-yaml.js";
import {
  cursorViolations,
  fieldsFromInput,
  limits,
  type RecordFields,
  type RecordInput,
  recordTypes,
  refKinds,
  wholeViolations,
} from "./model.js";

export type RefusalReason =
  | "bad_path"
  | "too_large"
  | "no_front_matter"
  | "bad_yaml"
  | "name_mismatch"
  | "unknown_type"
  | "invalid_record"
  | "too_many_records";

/** Why a file is not imported; `name` is empty where the path has none. */
export type FileRefusal = {
  readonly kind: "refused";
  readonly name: string;
  readonly reason: RefusalReason;
  readonly message: string;
};

/** What a file says. Times are in milliseconds, absent where it says none. */
export type ReadRecord = {
  readonly kind: "record";
  readonly name: string;
  readonly fields: RecordFields;
  readonly extra: string;
  readonly createdMs: number | undefined;
  readonly updatedMs: number | undefined;
};
export type ReadCursor = { readonly kind: "cursor"; readonly content: string };
export type ReadFile = ReadRecord | ReadCursor | FileRefusal;

class Refused extends Error {
  constructor(
    readonly reason: RefusalReason,
    message: string,
  ) {
    super(message);
  }
}

const refuse = (reason: RefusalReason, message: string): never => {
  throw new Refused(reason, message);
};

const invalid = (what: string): never => refuse("invalid_record", `${what}.`);

/** Violations as one sentence, in the words of a file. */
function assertLegal(violations: readonly FieldViolation[]): void {
  const [first] = violations;
  if (first !== undefined) invalid(`${first.field.replace(/^memory\./, "")} ${first.description}`);
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function textFrom({ content }: RecordFile): string {
  if (content.length > limits.fileBytes) {
    refuse("too_large", `The file is over ${limits.fileBytes} bytes; make it shorter.`);
  }
  try {
    return decoder.decode(content);
  } catch {
    return refuse("invalid_record", "The file is not UTF-8; convert it first.");
  }
}

/** The end of a line that holds nothing but the mark, with `from` at its start; `undefined` for another line. */
function endOfMark(text: string, from: number): number | undefined {
  const mark = /---[ \t]*(?:\r?\n|\r?$)/y;
  mark.lastIndex = from;
  return mark.test(text) ? mark.lastIndex : undefined;
}

type Parts = { readonly frontMatter: string; readonly body: string };

function partsOf(text: string): Parts {
  // Editors of one system put this before the first line.
  const start = endOfMark(text, text.startsWith("\ufeff") ? 1 : 0);
  if (start === undefined) {
    return refuse("no_front_matter", "The file does not begin with a line ---; begin it with front matter.");
  }
  for (let at = start; at !== 0 && at < text.length; at = text.indexOf("\n", at) + 1) {
    const end = endOfMark(text, at);
    if (end !== undefined) {
      return { frontMatter: text.slice(start, at).replaceAll("\r\n", "\n"), body: text.slice(end) };
    }
  }
  return refuse("no_front_matter", "The front matter has no end; put a line --- below it.");
}

function mapFrom(frontMatter: string): YamlMap {
  const parsed = parseYaml(frontMatter);
  if (parsed.kind === "map") return parsed;
  // The first line of the file is the mark above.
  return refuse("bad_yaml", `The front matter ${parsed.description} (line ${parsed.line + 1}).`);
}

/** A key without a value is a key that is not there. */
const isMissing = (node: YamlNode | undefined): node is undefined =>
  node === undefined || (node.kind === "scalar" && node.type === "null" && node.text === "");

const textAt = (map: YamlMap, key: string, field = key): string | undefined => {
  const node = map.entries.get(key);
  if (isMissing(node)) return undefined;
  return node.kind === "scalar" ? node.text : invalid(`${field} must be a text`);
};

const isNull = (node: YamlNode | undefined): boolean => node?.kind === "scalar" && node.type === "null";

function listAt(map: YamlMap, key: string): readonly YamlNode[] {
  const node = map.entries.get(key);
  if (node === undefined || isNull(node)) return [];
  return node.kind === "list" ? node.items : invalid(`${key} must be a list`);
}

const numberOf = (names: Readonly<Record<string, number>>, name: string | undefined): number | undefined =>
  Object.entries(names).find(([known]) => known === name)?.[1];

const unknownType = (field: string, names: object): never =>
  refuse("unknown_type", `${field} must be one of ${Object.keys(names).join(", ")}.`);

function refFrom(node: YamlNode, index: number): RecordInput["refs"][number] {
  const field = `refs[${index}]`;
  if (node.kind !== "map") return invalid(`${field} must be a mapping with kind and target`);
  // They would be lost: a record keeps unknown keys of its own alone.
  const isKnown = [...node.entries.keys()].every((key) => key === "kind" || key === "target");
  if (!isKnown) return invalid(`${field} may have no keys but kind and target`);
  const kind = numberOf(refKinds, textAt(node, "kind", `${field}.kind`));
  return {
    kind: kind ?? unknownType(`${field}.kind`, refKinds),
    target: textAt(node, "target", `${field}.target`) ?? "",
  };
}

function referenceFrom(node: YamlNode, index: number): string {
  return node.kind === "scalar" ? node.text : invalid(`references[${index}] must be a name`);
}

/** Whole seconds since 1970, at most so many that their milliseconds are exact. */
const wholeNumber = /^\d{1,12}$/;
const wholeMilliseconds = /^\d{1,15}$/;

/** The time that a pair of keys says; milliseconds count while their second is the one that is said (M87). */
function timeAt(map: YamlMap, key: "created" | "updated"): number | undefined {
  const text = textAt(map, key);
  if (text === undefined) return undefined;
  if (!wholeNumber.test(text)) return invalid(`${key} must be whole seconds since 1970`);
  const node = map.entries.get(`${key}_ms`);
  const finer = node?.kind === "scalar" && wholeMilliseconds.test(node.text) ? Number(node.text) : undefined;
  const isSame = finer !== undefined && Math.floor(finer / 1_000) === Number(text);
  return isSame ? finer : Number(text) * 1_000;
}

/** Longer ones take more time to convert than anybody means them. */
const maxPrefixedDigits = 64;

/** JSON has fewer spellings of numbers than YAML, and none for some. */
function jsonFromNumber(text: string): string {
  if (/^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/.test(text)) return text;
  if (/^0[xo]/.test(text)) return text.length > maxPrefixedDigits ? quoted(text) : String(BigInt(text));
  const parts = /^([-+]?)0*(\d*?)(?:\.(\d*))?([eE][-+]?\d+)?$/.exec(text);
  if (parts === null) return quoted(text);
  const [, sign, whole, fraction = "", exponent = ""] = parts;
  const digits = `${whole === "" ? "0" : whole}${fraction === "" ? "" : `.${fraction}`}`;
  return `${sign === "-" ? "-" : ""}${digits}${exponent}`;
}

/** The value as JSON in one line. */
export function jsonFromNode(node: YamlNode): string {
  if (node.kind === "list") return `[${node.items.map(jsonFromNode).join(",")}]`;
  if (node.kind === "map") {
    const members = [...node.entries].map(([key, value]) => `${quoted(key)}:${jsonFromNode(value)}`);
    return `{${members.join(",")}}`;
  }
  if (node.type === "null") return "null";
  if (node.type === "boolean") return node.text.toLowerCase();
  return node.type === "number" ? jsonFromNumber(node.text) : quoted(node.text);
}

const isKnownKey = (key: string): boolean => knownKeys.some((known) => known === key);

function extraOf(map: YamlMap): string {
  const entries: ExtraEntry[] = [...map.entries]
    .filter(([key]) => !isKnownKey(key))
    .map(([key, node]) => [key, jsonFromNode(node)]);
  if (extraBytes(entries) > limits.extraBytes) {
    refuse(
      "too_large",
      `The keys that memoryd does not know are over ${limits.extraBytes} bytes; shorten them.`,
    );
  }
  return extraFromEntries(entries);
}

function recordFrom(text: string, stem: string): ReadRecord {
  const { frontMatter, body } = partsOf(text);
  const map = mapFrom(frontMatter);
  if ((textAt(map, "name") ?? stem) !== stem) {
    refuse("name_mismatch", "The name inside is not the file's; rename the file, or correct the name.");
  }
  const input: RecordInput = {
    name: stem,
    type: numberOf(recordTypes, textAt(map, "type")) ?? unknownType("type", recordTypes),
    refs: listAt(map, "refs").map(refFrom),
    status: textAt(map, "status") ?? "",
    body,
    references: listAt(map, "references").map(referenceFrom),
  };
  assertLegal(wholeViolations(input));
  return {
    kind: "record",
    name: stem,
    fields: fieldsFromInput(input),
    extra: extraOf(map),
    createdMs: timeAt(map, "created"),
    updatedMs: timeAt(map, "updated"),
  };
}

function cursorFrom(content: string): ReadCursor {
  assertLegal(cursorViolations(content));
  return { kind: "cursor", content };
}

/** What the file says, or why it is refused. */
export function readRecordFile(file: RecordFile): ReadFile {
  const place = placeFromPath(file.path);
  const name = place?.kind === "record" ? place.name : "";
  try {
    if (place === undefined) {
      return refuse("bad_path", "The path must be cursor.md, NAME.md or records/NAME.md; move the file.");
    }
    const text = textFrom(file);
    return place.kind === "cursor" ? cursorFrom(text) : recordFrom(text, place.name);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { kind: "refused", name, reason: error.reason, message: error.message };
  }
}
