/** Records for property tests: legal ones, damaged ones, and large ones. */
import fc from "fast-check";
import { noExtra } from "../../src/memory/extra.js";
import { knownKeys, quoted } from "../../src/memory/files-format.js";
import {
  limits,
  type RecordFields,
  type RecordInput,
  type Ref,
  recordTypes,
  refKinds,
  type StoredRecord,
} from "../../src/memory/model.js";
import { trimWhitespace } from "../../src/memory/text.js";

export const anySlug = fc
  .stringMatching(/^[a-z0-9]{1,6}(-[a-z0-9]{1,6}){0,3}$/)
  .filter((text) => text.length <= limits.nameCharacters);

/** Signs that are legal in a line, cheap and dear ones in UTF-8 and in JSON. */
const lineSign = fc.constantFrom(...'ab "\\/<>&\u00e9\u20ac\u3000\u200b\ufeff\u202e\u{1f600}\u{1d800}\uffff');
const blockSign = fc.oneof(
  { weight: 5, arbitrary: lineSign },
  fc.constantFrom("\n", "\r", "\t", "\u2028", "\u2029"),
);

const lineText = (maxLength: number) => fc.string({ unit: lineSign, maxLength });
const blockText = fc.string({ unit: blockSign, maxLength: 40 });
const filled = (text: string): string => (trimWhitespace(text) === "" ? `x${text}` : text);

export const legalRef: fc.Arbitrary<Ref> = fc.record({
  kind: fc.constantFrom(...Object.values(refKinds)),
  target: lineText(20).map(filled),
});

const anyType = fc.constantFrom(...Object.values(recordTypes));

/** Legal fields as they are stored. */
export const legalFields: fc.Arbitrary<RecordFields> = fc
  .record({
    type: anyType,
    refs: fc.array(legalRef, { minLength: 1, maxLength: 4 }),
    status: lineText(12),
    body: blockText.map(trimWhitespace),
    references: fc.array(anySlug, { maxLength: 4 }),
  })
  .map((fields) => (fields.type === recordTypes.pointer ? { ...fields, body: "" } : fields));

/** What a caller may send, mostly legal. */
export const anyInput: fc.Arbitrary<RecordInput> = fc.record({
  name: fc.oneof({ weight: 9, arbitrary: anySlug }, fc.constantFrom("", "Bad", "a--b")),
  type: fc.oneof({ weight: 9, arbitrary: anyType }, fc.constantFrom(0, 4, -1)),
  refs: fc.oneof(
    { weight: 9, arbitrary: fc.array(legalRef, { minLength: 1, maxLength: 4 }) },
    fc.constantFrom(
      [],
      [{ kind: 9, target: "x" }],
      [{ kind: 1, target: " " }],
      [{ kind: 1, target: "a\nb" }],
    ),
  ),
  status: fc.oneof({ weight: 9, arbitrary: lineText(12) }, fc.constantFrom("a\nb", "x".repeat(65))),
  body: fc.oneof({ weight: 9, arbitrary: blockText }, fc.constantFrom("", " \n", "\0", "x".repeat(65_537))),
  references: fc.oneof(
    { weight: 9, arbitrary: fc.array(anySlug, { maxLength: 4 }) },
    fc.constantFrom(["Bad"], [""]),
  ),
});

const facts = fc.record({
  name: anySlug,
  createdMs: fc.integer({ min: 0, max: Date.UTC(9999, 0) }),
  updatedMs: fc.integer({ min: 0, max: Date.UTC(9999, 0) }),
  revision: fc.integer({ min: 1 }),
  extra: fc.constant(noExtra),
});
const writer = { user: "tester", agent: "" };

export const storedRecord: fc.Arbitrary<StoredRecord> = fc
  .tuple(facts, legalFields)
  .map(([known, fields]) => ({ readable: true, writer, ...known, ...fields }));

const upTo = (max: number) => fc.oneof(fc.constant(max), fc.nat({ max }), fc.nat({ max: Math.min(max, 4) }));

/** Records up to the largest that are legal, built of one sign, so that they are cheap to make. */
export const largeRecord: fc.Arbitrary<StoredRecord> = fc
  .record({
    known: facts,
    sign: fc.constantFrom("x", '"', "\\", "\u20ac", "\u{1f600}"),
    bodySign: fc.constantFrom("x", "\n", '"', "\u20ac"),
    nameCharacters: fc.integer({ min: 1, max: limits.nameCharacters }),
    bodyBytes: upTo(limits.bodyBytes),
    targetBytes: upTo(limits.targetBytes),
    refs: fc.integer({ min: 1, max: limits.refs }),
    references: upTo(limits.references),
    statusBytes: upTo(limits.statusBytes),
  })
  .map(({ known, sign, bodySign, nameCharacters, bodyBytes, targetBytes, refs, references, statusBytes }) => {
    const of = (unit: string, bytes: number): string =>
      unit.repeat(Math.floor(bytes / Buffer.byteLength(unit)));
    const name = "n".repeat(nameCharacters);
    return {
      readable: true,
      writer,
      ...known,
      name,
      type: recordTypes.decision,
      refs: Array.from({ length: refs }, () => ({ kind: refKinds.command, target: of(sign, targetBytes) })),
      status: of(sign, statusBytes),
      body: of(bodySign, bodyBytes),
      references: Array.from({ length: references }, () => name),
    };
  });

/** JSON in the spelling that memoryd writes. */
function spelled(value: fc.JsonValue | undefined): string {
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return `[${value.map(spelled).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value).map(([key, member]) => `${quoted(key)}:${spelled(member)}`);
  return `{${members.join(",")}}`;
}

/** Unknown keys of a file and their values. */
export const anyJsonEntries = fc
  .uniqueArray(
    fc.tuple(
      fc.oneof(lineText(6), fc.string({ unit: "binary", maxLength: 6 })),
      fc.jsonValue({ maxDepth: 4, stringUnit: "binary" }).map(spelled),
    ),
    { maxLength: 5, selector: ([key]) => key },
  )
  .map((entries) => entries.filter(([key]) => !knownKeys.some((known) => known === key)));
