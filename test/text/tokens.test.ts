/** What texts are cut into: the vectors, and what holds of every text. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { gramClass } from "../../src/text/classes.js";
import { breakToken, tokensFromText } from "../../src/text/tokens.js";
import { someText } from "./arbitrary.js";
import { type TokensVector, tokensVectors } from "./vectors.js";

const streams = ["exact", "joined", "stems"] as const;
const gram = new RegExp(gramClass, "v");
const codePoints = (text: string): number => [...text].length;

describe("a text", () => {
  test.each(tokensVectors)("($id) of $text has its tokens", (vector: TokensVector) => {
    const tokens = tokensFromText(vector.text);
    for (const stream of streams) {
      if (vector[stream] !== undefined) expect(tokens[stream], stream).toEqual(vector[stream]);
    }
  });

  test("has no token longer than 128 characters, and no joined one longer than 64", () => {
    const long = "e\u0301".repeat(200);
    expect(tokensFromText(`${long} ${"x".repeat(200)}`).exact).toEqual(["e".repeat(128), "x".repeat(128)]);
    expect(tokensFromText(`${"a".repeat(32)}-${"b".repeat(32)}`).joined).toHaveLength(1);
    expect(tokensFromText(`${"a".repeat(32)}-${"b".repeat(33)}`).joined).toEqual([]);
    expect(tokensFromText(`${"a".repeat(62)}++ ${"a".repeat(63)}++`).joined).toEqual([`${"a".repeat(62)}++`]);
    const astral = "\u{10428}";
    expect(tokensFromText(astral.repeat(129)).exact).toEqual([astral.repeat(128)]);
    expect(tokensFromText(`${astral.repeat(32)}-${astral.repeat(32)}`).joined).toHaveLength(1);
    fc.assert(
      fc.property(someText, (text) => {
        const { exact, joined, stems } = tokensFromText(text);
        expect(exact.every((token) => codePoints(token) <= 128)).toBe(true);
        expect(joined.every((token) => codePoints(token) <= 64)).toBe(true);
        expect(stems.every((token) => codePoints(token) <= 128)).toBe(true);
      }),
    );
  });

  test("has only tokens that an engine can take as they are", () => {
    fc.assert(
      fc.property(someText, (text) => {
        const { exact, joined, stems } = tokensFromText(text);
        for (const token of [...exact, ...stems]) {
          expect(token).toMatch(/^(?:[a-z0-9]|[^\0-\x7f])+$/u);
        }
        for (const token of joined) expect(token).toMatch(/^(?:[a-z0-9]|[^\0-\x7f])+(?:\+\+|#)?$/u);
        expect([...exact, ...joined, ...stems].join("")).not.toMatch(/\p{Surrogate}/u);
      }),
    );
  });

  test("made of its own tokens has the same tokens", () => {
    fc.assert(
      fc.property(someText, (text) => {
        const words = tokensFromText(text).exact.filter((token) => /^[\p{L}\p{N}]+$/u.test(token));
        const parts = words.filter((token) => !gram.test(token));
        expect(tokensFromText(parts.join(" ")).exact).toEqual(parts);
      }),
    );
  });

  test("is the same however it is composed and wherever invisible characters stand in it", () => {
    fc.assert(
      fc.property(someText, fc.nat(), (text, at) => {
        const index = text.length === 0 ? 0 : at % text.length;
        const isInside = /[\ud800-\udbff]/.test(text.charAt(index - 1));
        const sown = isInside ? text : `${text.slice(0, index)}\u00ad${text.slice(index)}`;
        const tokens = tokensFromText(text);
        expect(tokensFromText(text.normalize("NFD"))).toEqual(tokens);
        expect(tokensFromText(sown)).toEqual(tokens);
      }),
    );
  });

  test("is whole when it is a value beside others, and a break stands between them", () => {
    fc.assert(
      fc.property(fc.array(someText, { maxLength: 4 }), (values) => {
        const each = values.map((value) => tokensFromText(value));
        const together = tokensFromText(values);
        expect(together.exact).toEqual(
          each.flatMap(({ exact }, index) => (index > 0 ? [breakToken, ...exact] : exact)),
        );
        expect(together.joined).toEqual(each.flatMap(({ joined }) => joined));
        expect(together.stems).toEqual(each.flatMap(({ stems }) => stems));
      }),
    );
  });
});
