/** Text as UTF-8: size, order and the place of a fault, against what Node's own bytes say. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { byteLength, compareUtf8, faultOffset } from "../../src/kernel/utf8.js";

/** Well-formed texts, with many signs from where UTF-8 and UTF-16 sort differently. */
const wellFormed = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({
    unit: fc.constantFrom(
      "a",
      "\u007f",
      "\u0080",
      "\u07ff",
      "\u0800",
      "\ud7ff",
      "\ue000",
      "\uffff",
      "\u{10000}",
      "\u{1f600}",
      "\u{10ffff}",
    ),
  }),
);
/** Any UTF-16, halves of pairs included. */
const anyText = fc.string({
  unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
});
const nearlyEqual = fc
  .tuple(wellFormed, wellFormed, wellFormed)
  .map(([start, a, b]) => [start + a, start + b] as const);

test("the order of two texts is that of their UTF-8 bytes", () => {
  const check = (a: string, b: string): void => {
    expect(Math.sign(compareUtf8(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
  };
  fc.assert(fc.property(wellFormed, wellFormed, check));
  fc.assert(fc.property(nearlyEqual, ([a, b]) => check(a, b)));
  check("\uffff", "\u{10000}");
  check("a", "a-b");
});

test("sorting by it is sorting by bytes", () => {
  fc.assert(
    fc.property(fc.array(wellFormed), (texts) => {
      const bytes = texts.map((text) => Buffer.from(text)).sort(Buffer.compare);
      expect([...texts].sort(compareUtf8)).toEqual(bytes.map((text) => text.toString("utf8")));
    }),
  );
});

test("the size of a text is the number of its UTF-8 bytes, half a pair counting as three", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(byteLength(text)).toBe(new TextEncoder().encode(text).length);
    }),
  );
  expect(byteLength("\ud800")).toBe(3);
});

describe("the place of the first fault", () => {
  const isHalf = (sign: string): boolean => sign.length === 1 && /[\ud800-\udfff]/.test(sign);
  const isForbidden = (codePoint: number): boolean => codePoint % 7 === 0;

  test("is the number of bytes before it, whether it is forbidden or half a pair", () => {
    const check = (text: string): void => {
      const signs = [...text];
      const index = signs.findIndex((sign) => isHalf(sign) || isForbidden(sign.codePointAt(0) ?? 0));
      const expected = index < 0 ? undefined : Buffer.byteLength(signs.slice(0, index).join(""));
      expect(faultOffset(text, isForbidden)).toBe(expected);
    };
    fc.assert(fc.property(anyText, check));
    fc.assert(fc.property(wellFormed, check));
  });

  test("is nowhere in a well-formed text where nothing is forbidden", () => {
    fc.assert(
      fc.property(wellFormed, (text) => {
        expect(faultOffset(text, () => false)).toBeUndefined();
      }),
    );
  });

  test.each([
    ["\ud800", 0],
    ["a\udc00b", 1],
    ["\u20ac\ude00\ud83d", 3],
    ["\u{1f600}\ud83d", 4],
  ])("in %j is byte %i", (text, offset) => {
    expect(faultOffset(text, () => false)).toBe(offset);
  });
});
