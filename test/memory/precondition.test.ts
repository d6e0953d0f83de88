/** Preconditions (memory.md M40): every spelling of an instant fits it, and nothing mangled is taken. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isMemorydError } from "../../src/kernel/errors.js";
import { isSatisfied, type Precondition, preconditionFrom } from "../../src/memory/precondition.js";

const minuteMs = 60_000;
/** From the year 1000 to 9998, so that any offset leaves four digits. */
const instant = fc.integer({ min: Date.UTC(1000, 0, 2), max: Date.UTC(9998, 11, 30) });
const offsetMinutes = fc.integer({ min: -(23 * 60 + 59), max: 23 * 60 + 59 });
const padded = (number: number): string => String(number).padStart(2, "0");

type Spelling = { readonly atMs: number; readonly text: string };

/** An RFC 3339 time with an offset or Z, in either case, with as many further zeros as are wanted. */
const spelling: fc.Arbitrary<Spelling> = fc
  .record({
    atMs: instant,
    offset: offsetMinutes,
    utc: fc.boolean(),
    zeros: fc.nat({ max: 6 }),
    lower: fc.boolean(),
  })
  .map(({ atMs, offset, utc, zeros, lower }) => {
    const local = new Date(atMs + (utc ? 0 : offset * minuteMs)).toISOString().slice(0, -1);
    const size = Math.abs(offset);
    const zone = utc ? "Z" : `${offset < 0 ? "-" : "+"}${padded(Math.floor(size / 60))}:${padded(size % 60)}`;
    const fraction = local.slice(20);
    const whole = Number(fraction) === 0 && zeros === 0 ? local.slice(0, 19) : `${local}${"0".repeat(zeros)}`;
    const text = `${whole}${zone}`;
    return { atMs, text: lower ? text.toLowerCase() : text };
  });

function reading(text: string): Precondition | "refused" {
  try {
    return preconditionFrom(text);
  } catch (error) {
    if (!isMemorydError(error)) throw error;
    expect(error.code).toBe("invalid_argument");
    expect(error.violations.map(({ field }) => field)).toEqual(["memoryd-if-update-time"]);
    return "refused";
  }
}

describe("a time", () => {
  test("fits the instant that it spells, and no other", () => {
    fc.assert(
      fc.property(spelling, fc.integer({ min: 1, max: 10_000 }), ({ atMs, text }, otherMs) => {
        const precondition = preconditionFrom(text);
        expect(isSatisfied(precondition, atMs)).toBe(true);
        expect(isSatisfied(precondition, atMs + otherMs)).toBe(false);
        expect(isSatisfied(precondition, atMs - otherMs)).toBe(false);
        expect(isSatisfied(precondition, undefined)).toBe(false);
      }),
      { numRuns: 1_000 },
    );
  });

  test("with digits below the millisecond fits nothing", () => {
    fc.assert(
      fc.property(instant, fc.integer({ min: 1, max: 999_999 }), (atMs, nanos) => {
        const text = `${new Date(atMs).toISOString().slice(0, -1)}${String(nanos).padStart(6, "0")}Z`;
        const precondition = preconditionFrom(text);
        for (const near of [-1, 0, 1]) expect(isSatisfied(precondition, atMs + near)).toBe(false);
      }),
    );
  });

  test("that is damaged is refused, or spells another instant by the same rules", () => {
    const damaged = fc
      .tuple(spelling, fc.nat(), fc.constantFrom("0", "3", "9", "-", ":", "T", "Z", "+", ".", " ", "x", ""))
      .map(([{ text }, place, sign]) => {
        const at = place % text.length;
        return text.slice(0, at) + sign + text.slice(at + 1);
      });
    fc.assert(
      fc.property(damaged, (text) => {
        const outcome = reading(text);
        if (outcome === "refused" || outcome.kind !== "at" || outcome.atMs === undefined) return;
        expect(text).toMatch(/^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/);
        expect(outcome.atMs).toBe(Date.parse(text.toUpperCase()));
      }),
      { numRuns: 1_000 },
    );
  });

  test("that is any other text is refused", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        fc.pre(text !== "absent");
        expect(reading(text)).toBe("refused");
      }),
    );
  });

  test.each([
    "",
    " ",
    "yesterday",
    "ABSENT",
    " absent",
    "absent ",
    "2026-02-29T00:00:00Z",
    "2026-02-30T00:00:00Z",
    "2026-04-31T00:00:00Z",
    "2026-00-01T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "1900-02-29T00:00:00Z",
    "2026-01-00T00:00:00Z",
    "2026-01-01T24:00:00Z",
    "2026-01-01T00:60:00Z",
    "2026-01-01T00:00:61Z",
    "2026-01-01T00:00:00",
    "2026-01-01T00:00:00.Z",
    "2026-01-01T00:00:00,5Z",
    "2026-01-01T00:00:00.1234567890Z",
    "2026-01-01T00:00:00+0200",
    "2026-01-01T00:00:00+24:00",
    "2026-01-01T00:00:00+00:60",
    "2026-01-01T00:00:00ZZ",
    "26-01-01T00:00:00Z",
    "+002026-01-01T00:00:00Z",
    "2026-1-1T00:00:00Z",
    "2026-W01-1T00:00:00Z",
    "2026-01-01T00:00:00Z\n",
    "2026-01-01T00:00:00Z, 2026-01-01T00:00:00Z",
    "1767225600000",
  ])("is not %j", (text) => {
    expect(reading(text)).toBe("refused");
  });

  test.each([
    ["2024-02-29T00:00:00Z", Date.UTC(2024, 1, 29)],
    ["2000-02-29T00:00:00Z", Date.UTC(2000, 1, 29)],
    ["2026-01-01T00:30:00+01:00", Date.UTC(2025, 11, 31, 23, 30)],
    ["1970-01-01T00:00:00.5Z", 500],
    ["1969-12-31T23:59:59.999Z", -1],
    ["0001-01-01T00:00:00Z", Date.parse("0001-01-01T00:00:00Z")],
  ])("may be %s", (text, atMs) => {
    expect(reading(text)).toEqual({ kind: "at", atMs });
  });
});

test("`absent` fits only nothing, and no precondition fits everything", () => {
  expect(isSatisfied(preconditionFrom("absent"), undefined)).toBe(true);
  expect(isSatisfied(preconditionFrom("absent"), 0)).toBe(false);
  expect(isSatisfied(preconditionFrom(undefined), undefined)).toBe(true);
  expect(isSatisfied(preconditionFrom(undefined), 0)).toBe(true);
});
