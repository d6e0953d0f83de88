/**
 * Records and the cursor as files, the writing half (memory.md M87): equal records give equal bytes. The
 * reading half is `files-read.ts`.
 *
 * | part | written |
 * | --- | --- |
 * | `---` | first line |
 * | name, type, status, refs, references, created, updated | in this order; empty status and references left out |
 * | created_ms, updated_ms | the same times in milliseconds, which earlier tools do not know |
 * | unknown keys | in byte order, as JSON values |
 * | `---`, and before a body an empty line | |
 * | body | as it is stored, and a line end |
 *
 * Names and free text are JSON strings, which YAML reads as the same text.
 */
import { createHash, type Hash } from "node:crypto";
import { entriesFromExtra } from "./extra.js";
import { isSlug, type RecordFields, recordTypes, refKinds } from "./model.js";

/** A file of an export or import; the path has `/` between its parts and touches no disk here. */
export type RecordFile = { readonly path: string; readonly content: Uint8Array };

/** What a file can hold of a record. */
export type FiledRecord = RecordFields & {
  readonly name: string;
  readonly createdMs: number;
  readonly updatedMs: number;
  readonly extra: string;
};

/** What a path stands for. */
export type FilePlace = { readonly kind: "cursor" } | { readonly kind: "record"; readonly name: string };

export const cursorPath = "cursor.md";
const recordsFolder = "records/";
const ending = ".md";

export const recordPath = (name: string): string => `${recordsFolder}${name}${ending}`;

/** The place of a path; `undefined` for one that no import takes (M89). */
export function placeFromPath(path: string): FilePlace | undefined {
  if (path === cursorPath) return { kind: "cursor" };
  const file = path.startsWith(recordsFolder) ? path.slice(recordsFolder.length) : path;
  const name = file.endsWith(ending) ? file.slice(0, -ending.length) : "";
  return isSlug(name) ? { kind: "record", name } : undefined;
}

/** The keys of a record's file that mean something; all others are unknown. */
export const knownKeys = [
  "name",
  "type",
  "status",
  "refs",
  "references",
  "created",
  "updated",
  "created_ms",
  "updated_ms",
] as const;

const nameOf = (names: Readonly<Record<string, number>>, number: number): string =>
  Object.keys(names).find((name) => names[name] === number) ?? "";

/** Not printable in YAML, or taken for a mark of the byte order by who reads the file. */
const unprintable = /[\u007f-\u009f\ufeff\ufffe\uffff]/g;

/** The text as a JSON string that is one line of printable characters. */
export const quoted = (text: string): string =>
  JSON.stringify(text).replace(
    unprintable,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

const plainKey = /^[A-Za-z_][A-Za-z0-9_.-]*$/;
/** Texts that some reader of YAML takes for something else. */
const takenWords = /^(null|true|false|yes|no|on|off|y|n)$/i;
/** YAML allows no longer key before a colon in the same line. */
const maxKeyCharacters = 1_000;

function extraLine(key: string, json: string): string {
  const isPlain = plainKey.test(key) && !takenWords.test(key);
  const text = isPlain ? key : quoted(key);
  return text.length > maxKeyCharacters ? `? ${text}\n: ${json}` : `${text}: ${json}`;
}

const seconds = (atMs: number): number => Math.floor(atMs / 1_000);

/** The lines between the marks. */
function frontMatterLines(record: FiledRecord): string[] {
  const { name, type, status, refs, references, createdMs, updatedMs, extra } = record;
  return [
    `name: ${quoted(name)}`,
    `type: ${nameOf(recordTypes, type)}`,
    ...(status === "" ? [] : [`status: ${quoted(status)}`]),
    "refs:",
    ...refs.flatMap(({ kind, target }) => [
      `  - kind: ${nameOf(refKinds, kind)}`,
      `    target: ${quoted(target)}`,
    ]),
    ...(references.length === 0 ? [] : ["references:"]),
    ...references.map((reference) => `  - ${quoted(reference)}`),
    `created: ${seconds(createdMs)}`,
    `updated: ${seconds(updatedMs)}`,
    `created_ms: ${createdMs}`,
    `updated_ms: ${updatedMs}`,
    ...entriesFromExtra(extra).map(([key, json]) => extraLine(key, json)),
  ];
}

/** The record's file under {@link recordPath}. */
export function fileFromRecord(record: FiledRecord): RecordFile {
  const head = ["---", ...frontMatterLines(record), "---", ""].join("\n");
  const body = record.body === "" ? "" : `\n${record.body}\n`;
  return { path: recordPath(record.name), content: Buffer.from(`${head}${body}`, "utf8") };
}

/** The cursor's file: its text and nothing else. */
export const fileFromCursor = (content: string): RecordFile => ({
  path: cursorPath,
  content: Buffer.from(content, "utf8"),
});

/** The digest of an export (M58), fed with its files in their order. */
export function createFilesDigest(): { add: (file: RecordFile) => void; hex: () => string } {
  const hash: Hash = createHash("sha256");
  return {
    add: ({ path, content }) => {
      hash.update(`${path}\0${content.length}\0`);
      hash.update(content);
    },
    hex: () => hash.digest("hex"),
  };
}

const childMark = "-";

/**
 * Names in byte order -> the same in the order of their paths. The two differ because `a-b.md` sorts before
 * `a.md`: a name comes after all that continue it with a hyphen, which follow it directly among the names.
 */
export function* inPathOrder<Item>(items: Iterable<Item>, nameOf: (item: Item) => string): Generator<Item> {
  const open: Item[] = [];
  for (const item of items) {
    for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
      if (nameOf(item).startsWith(`${nameOf(last)}${childMark}`)) break;
      yield last;
      open.pop();
    }
    open.push(item);
  }
  yield* open.reverse();
}
