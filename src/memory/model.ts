/**
 * The words of the domain as types, their limits (memory.md M11–M18), and the checks that turn what a
 * caller sent into valid values. No I/O. Every check answers violations in field order; only
 * `assertValid` and the `…From` functions throw.
 *
 * | field      | rule                                              | stored          |
 * | name       | slug, 1–128 characters, never trimmed             | as sent         |
 * | type       | 1 pointer, 2 decision, 3 plan                     | as sent         |
 * | refs       | 1–64, kind 1–5, target a line that is not blank   | as sent         |
 * | status     | a line, may be empty                              | as sent         |
 * | body       | a block; blank on a pointer (checked by `merge`)  | trimmed (M8)    |
 * | references | 0–64 slugs, in order, duplicates kept             | as sent         |
 */
import { type FieldViolation, invalidArgument } from "../kernel/errors.js";
import { byteLength } from "../kernel/utf8.js";
import { blockFault, isBlank, lineFault, trimWhitespace } from "./text.js";

/** Numbers are those of `magus.memory.v1.MemoryType`. */
export const recordTypes = { pointer: 1, decision: 2, plan: 3 } as const;
/** Numbers are those of `magus.memory.v1.MemoryRefKind`. */
export const refKinds = { query: 1, node: 2, output: 3, command: 4, doc: 5 } as const;

const jsonNames = (prefix: string, words: object): string =>
  Object.keys(words)
    .map((word) => `${prefix}_${word.toUpperCase()}`)
    .join(", ");
const recordTypeNames = jsonNames("MEMORY_TYPE", recordTypes);
const refKindNames = jsonNames("MEMORY_REF_KIND", refKinds);

export type RecordType = (typeof recordTypes)[keyof typeof recordTypes];
export type RefKind = (typeof refKinds)[keyof typeof refKinds];

/** What a ref's file was at the write (M74); `bytes` is -1 for a folder, and a large file has no digest. */
export type RefBaseline = { readonly bytes: number; readonly sha256: string | undefined };

/** `baseline` is absent when the write saw no file; it is ours alone and never part of what a caller sends. */
export type Ref = {
  readonly kind: RefKind;
  readonly target: string;
  readonly baseline?: RefBaseline;
};

export type RecordFields = {
  readonly type: RecordType;
  readonly refs: readonly Ref[];
  readonly status: string;
  readonly body: string;
  readonly references: readonly string[];
};

/** Who wrote something; `agent` is empty when none acted. */
export type Writer = { readonly user: string; readonly agent: string };

/** What every stored thing carries: times in milliseconds since 1970, UTC, and the position of its last write. */
export type WriteFacts = { readonly updatedMs: number; readonly revision: number; readonly writer: Writer };

/** What a record carries besides, whatever was written last; `extra` is that of `extra.ts`, which only files show. */
export type RecordFacts = WriteFacts & {
  readonly name: string;
  readonly createdMs: number;
  readonly extra: string;
};

export type StoredRecord = RecordFields & RecordFacts & { readonly readable: true };

/** A row that no longer reads as a record (M33): an unknown number, or no refs. */
export type UnreadableRecord = RecordFacts & { readonly readable: false };

export type StoredCursor = WriteFacts & { readonly content: string };

/** A record as a door received it: any numbers, any text. */
export type RecordInput = {
  readonly name: string;
  readonly type: number;
  readonly refs: readonly {
    readonly kind: number;
    readonly target: string;
    /** Only on refs that were stored before (a partial update). */
    readonly baseline?: RefBaseline;
  }[];
  readonly status: string;
  readonly body: string;
  readonly references: readonly string[];
};

/** Limits of M18, in the unit of their name; texts in UTF-8 bytes of what would be stored. */
export const limits = {
  nameCharacters: 128,
  bodyBytes: 65_536,
  targetBytes: 4_096,
  statusBytes: 64,
  cursorBytes: 262_144,
  refs: 64,
  references: 64,
  maskPaths: 64,
  pageSize: 1_000,
  pageBytes: 2_097_152,
  pageJsonBytes: 4_194_304,
  /** One imported file, and the unknown keys in it. */
  fileBytes: 1_048_576,
  extraBytes: 16_384,
  importFiles: 1_000,
  exportNames: 100,
  openWatches: 64,
  queryBytes: 1_024,
  /** Values of one filter of a search. */
  filterValues: 64,
  /** Cursor values kept beside the live one (M38). */
  earlierCursors: 50,
} as const;

const slug = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const slugRule = `must be lower-case letters and digits in words joined by single hyphens, 1 to ${limits.nameCharacters} characters`;

/** Whether the text is a slug (M11): the form of names and of workspaces. */
export const isSlug = (text: string): boolean => text.length <= limits.nameCharacters && slug.test(text);

export const isRecordType = (value: number): value is RecordType =>
  Number.isInteger(value) && value >= recordTypes.pointer && value <= recordTypes.plan;

export const isRefKind = (value: number): value is RefKind =>
  Number.isInteger(value) && value >= refKinds.query && value <= refKinds.doc;

/** The fields of a record that a caller sets, in the order of violations. */
export const settableFields = ["type", "refs", "status", "body", "references"] as const;
export type SettableField = (typeof settableFields)[number];

export const slugViolations = (field: string, text: string): FieldViolation[] =>
  isSlug(text) ? [] : [{ field, description: slugRule }];

const sizeViolations = (field: string, text: string, maxBytes: number): FieldViolation[] =>
  byteLength(text) > maxBytes ? [{ field, description: `is over ${maxBytes} bytes` }] : [];

const faultViolations = (field: string, fault: string | undefined): FieldViolation[] =>
  fault === undefined ? [] : [{ field, description: fault }];

/** A faulty field is answered once, however many rules it breaks. */
const firstOf = (...violations: readonly FieldViolation[][]): FieldViolation[] =>
  violations.flat().slice(0, 1);

function refViolations(ref: { kind: number; target: string }, field: string): FieldViolation[] {
  const target = `${field}.target`;
  return [
    ...(isRefKind(ref.kind)
      ? []
      : [
          {
            field: `${field}.kind`,
            description: `must be query, node, output, command or doc (in JSON ${refKindNames})`,
          },
        ]),
    ...firstOf(
      isBlank(ref.target) ? [{ field: target, description: "must not be blank" }] : [],
      faultViolations(target, lineFault(ref.target)),
      sizeViolations(target, ref.target, limits.targetBytes),
    ),
  ];
}

const fieldChecks: Readonly<Record<SettableField, (input: RecordInput) => FieldViolation[]>> = {
  type: ({ type }) =>
    isRecordType(type)
      ? []
      : [
          {
            field: "memory.type",
            description: `must be pointer, decision or plan (in JSON ${recordTypeNames})`,
          },
        ],
  refs: ({ refs }) =>
    refs.length < 1 || refs.length > limits.refs
      ? [{ field: "memory.refs", description: `must hold 1 to ${limits.refs} refs` }]
      : refs.flatMap((ref, index) => refViolations(ref, `memory.refs[${index}]`)),
  status: ({ status }) =>
    firstOf(
      faultViolations("memory.status", lineFault(status)),
      sizeViolations("memory.status", status, limits.statusBytes),
    ),
  body: ({ body }) =>
    firstOf(
      faultViolations("memory.body", blockFault(body)),
      sizeViolations("memory.body", trimWhitespace(body), limits.bodyBytes),
    ),
  references: ({ references }) =>
    references.length > limits.references
      ? [{ field: "memory.references", description: `must hold at most ${limits.references} names` }]
      : references.flatMap((name, index) => slugViolations(`memory.references[${index}]`, name)),
};

/** What is wrong with these fields, each checked alone. */
export const fieldViolations = (input: RecordInput, fields: readonly SettableField[]): FieldViolation[] =>
  settableFields.filter((field) => fields.includes(field)).flatMap((field) => fieldChecks[field](input));

/** What is wrong with a record as a whole: every field, and a pointer that has a body (M15). */
export function wholeViolations(input: RecordInput): FieldViolation[] {
  const isPointerWithBody = input.type === recordTypes.pointer && !isBlank(input.body);
  const pointer = isPointerWithBody
    ? [{ field: "memory.body", description: "must be empty on a pointer; a decision or a plan may have one" }]
    : [];
  const order = (field: SettableField): FieldViolation[] =>
    field === "body" ? firstOf(fieldChecks.body(input), pointer) : fieldChecks[field](input);
  return settableFields.flatMap(order);
}

/** Throws `invalid_argument` when there are violations. */
export function assertValid(violations: readonly FieldViolation[]): void {
  if (violations.length > 0) throw invalidArgument(violations);
}

/** The fields as they are stored. Only for input without violations. */
export function fieldsFromInput(input: RecordInput): RecordFields {
  return {
    type: input.type as RecordType,
    refs: input.refs.map(({ kind, target, baseline }) => ({
      kind: kind as RefKind,
      target,
      ...(baseline === undefined ? {} : { baseline }),
    })),
    status: input.status,
    body: trimWhitespace(input.body),
    references: [...input.references],
  };
}

/** What is wrong with a cursor text (M9, M18). */
export const cursorViolations = (content: string): FieldViolation[] =>
  firstOf(
    faultViolations("content", blockFault(content)),
    sizeViolations("content", content, limits.cursorBytes),
  );

export const sameRefs = (a: readonly Ref[], b: readonly Ref[]): boolean =>
  a.length === b.length &&
  a.every((ref, index) => ref.kind === b[index]?.kind && ref.target === b[index]?.target);

const sameBaseline = (a: RefBaseline | undefined, b: RefBaseline | undefined): boolean =>
  a?.bytes === b?.bytes && a?.sha256 === b?.sha256;

/** Whether the refs are the same with their baselines: whether there is nothing to store. */
export const sameStoredRefs = (a: readonly Ref[], b: readonly Ref[]): boolean =>
  sameRefs(a, b) && a.every((ref, index) => sameBaseline(ref.baseline, b[index]?.baseline));

export const sameNames = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((name, index) => name === b[index]);

/** Whether two records say the same, times and writers aside (M40's replay). */
export const sameFields = (a: RecordFields, b: RecordFields): boolean =>
  a.type === b.type &&
  a.status === b.status &&
  a.body === b.body &&
  sameRefs(a.refs, b.refs) &&
  sameNames(a.references, b.references);
