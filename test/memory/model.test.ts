/** Checks of the model (memory.md M11–M18) against the rules said plainly. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isMemorydError } from "../../src/kernel/errors.js";
import {
  assertValid,
  fieldsFromInput,
  fieldViolations,
  isSlug,
  type RecordInput,
  sameFields,
  settableFields,
  wholeViolations,
} from "../../src/memory/model.js";
import { anyInput, legalFields } from "./arbitrary.js";
import { decisionFields } from "./records.js";

const control = /\p{Cc}/u;
const blank = /^\p{White_Space}*$/u;
const trimmed = (text: string): string => text.replaceAll(/^\p{White_Space}+|\p{White_Space}+$/gu, "");
const words = (name: string): boolean => name.split("-").every((word) => /^[a-z0-9]+$/.test(word));
const isName = (name: string): boolean => name.length >= 1 && name.length <= 128 && words(name);

/** The fields that the rules forbid, in order. */
function faultyFields({ type, refs, status, body, references }: RecordInput): string[] {
  const faults: string[] = [];
  if (![1, 2, 3].includes(type)) faults.push("memory.type");
  if (refs.length < 1 || refs.length > 64) faults.push("memory.refs");
  else {
    for (const [index, { kind, target }] of refs.entries()) {
      if (![1, 2, 3, 4, 5].includes(kind)) faults.push(`memory.refs[${index}].kind`);
      const isLine = !control.test(target) && !/[\u2028\u2029]/.test(target);
      if (blank.test(target) || !isLine || Buffer.byteLength(target) > 4_096)
        faults.push(`memory.refs[${index}].target`);
    }
  }
  if (control.test(status) || /[\u2028\u2029]/.test(status) || Buffer.byteLength(status) > 64)
    faults.push("memory.status");
  const isBlock = !control.test(body.replaceAll(/[\t\n\r]/g, ""));
  const isTooLarge = Buffer.byteLength(trimmed(body)) > 65_536;
  if (!isBlock || isTooLarge || (type === 1 && !blank.test(body))) faults.push("memory.body");
  if (references.length > 64) faults.push("memory.references");
  else
    for (const [index, name] of references.entries())
      if (!isName(name)) faults.push(`memory.references[${index}]`);
  return faults;
}

describe("a record", () => {
  test("is faulty in exactly the fields that the rules forbid, each told once and in order", () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        expect(wholeViolations(input).map(({ field }) => field)).toEqual(faultyFields(input));
      }),
      { numRuns: 1_000 },
    );
  });

  test("has the same faults field by field, but for what only the whole shows", () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        fc.pre(input.type !== 1);
        const alone = settableFields.flatMap((field) => fieldViolations(input, [field]));
        expect(fieldViolations(input, settableFields)).toEqual(alone);
        expect(alone).toEqual(wholeViolations(input));
      }),
    );
  });

  test("is told where it is faulty without a word of its text", () => {
    const secret = "s3cr3t-words";
    const input: RecordInput = {
      name: "a",
      type: 9,
      refs: [{ kind: 9, target: `${secret}\0` }],
      status: `${secret}\n`,
      body: `${secret}\x1b`,
      references: [`${secret} `],
    };
    const told = JSON.stringify(wholeViolations(input));
    expect(told).not.toContain(secret);
    expect(told.match(/at byte 12/g)).toHaveLength(3);
  });

  test("that is fine is stored as it was sent, its body trimmed", () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        fc.pre(wholeViolations(input).length === 0);
        const { type, refs, status, body, references } = input;
        expect(fieldsFromInput(input)).toEqual({ type, refs, status, body: trimmed(body), references });
      }),
    );
  });
});

test("a slug is lower-case words and digits joined by single hyphens, of 1 to 128 characters", () => {
  const nearSlug = fc.string({
    unit: fc.constantFrom("a", "z", "0", "9", "-", "A", "_", " ", "\n"),
    maxLength: 6,
  });
  const check = (text: string): void => {
    expect(isSlug(text)).toBe(isName(text));
  };
  fc.assert(fc.property(nearSlug, check), { numRuns: 1_000 });
  fc.assert(fc.property(fc.string({ unit: "binary" }), check));
  for (const length of [127, 128, 129]) check("a".repeat(length));
});

test("records are the same when all that a caller sets is equal, in order", () => {
  fc.assert(
    fc.property(legalFields, legalFields, (a, b) => {
      expect(sameFields(a, structuredClone(a))).toBe(true);
      expect(sameFields(a, b)).toBe(JSON.stringify(sorted(a)) === JSON.stringify(sorted(b)));
    }),
  );
  const base = decisionFields({
    references: ["a", "b"],
    refs: [...decisionFields().refs, { kind: 1, target: "q" }],
  });
  for (const other of [
    { ...base, type: 3 as const },
    { ...base, status: "x" },
    { ...base, body: "x" },
    { ...base, references: ["b", "a"] },
    { ...base, references: ["a"] },
    { ...base, refs: base.refs.toReversed() },
    { ...base, refs: base.refs.slice(0, 1) },
    { ...base, refs: base.refs.map((ref) => ({ ...ref, kind: 5 as const })) },
  ]) {
    expect(sameFields(base, other)).toBe(false);
    expect(sameFields(other, base)).toBe(false);
  }
});

const sorted = ({ type, refs, status, body, references }: ReturnType<typeof decisionFields>): unknown[] => [
  type,
  refs.map(({ kind, target }) => [kind, target]),
  status,
  body,
  references,
];

test("violations are thrown together, and none throw nothing", () => {
  expect(() => assertValid([])).not.toThrow();
  try {
    assertValid([{ field: "a", description: "is bad" }]);
    expect.fail("it did not throw");
  } catch (error) {
    expect(isMemorydError(error) && error.code).toBe("invalid_argument");
  }
});

test("a wrong type or kind is told with the words of the contract and their spelling in JSON", () => {
  const input = {
    name: "a",
    type: 0,
    refs: [{ kind: 9, target: "t" }],
    status: "",
    body: "",
    references: [],
  };
  expect(wholeViolations(input).map(({ description }) => description)).toEqual([
    "must be pointer, decision or plan (in JSON MEMORY_TYPE_POINTER, MEMORY_TYPE_DECISION, MEMORY_TYPE_PLAN)",
    expect.stringMatching(
      /^must be query, node, .* \(in JSON MEMORY_REF_KIND_QUERY, .*MEMORY_REF_KIND_DOC\)$/,
    ),
  ]);
});
