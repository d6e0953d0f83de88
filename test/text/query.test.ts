/** What queries ask for: the vectors, and what holds of every query. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { maxTerms, queryFromText } from "../../src/text/query.js";
import { maxTermTokens, type Term } from "../../src/text/term.js";
import { someText } from "./arbitrary.js";
import { type QueryVector, queryVectors } from "./vectors.js";

const termsOf = (text: string): readonly Term[] => {
  const query = queryFromText(text);
  return query.kind === "keyword" ? query.terms : [];
};
const wordsOf = (text: string): readonly string[] => termsOf(text).map((term) => term.text);

describe("a query", () => {
  test.each(queryVectors)("($id) of $query asks for its terms", (vector: QueryVector) => {
    const query = queryFromText(vector.query);
    expect(query.kind).toBe(vector.kind);
    if (query.kind !== "keyword") return;
    expect(query.isCut).toBe(vector.cut ?? false);
    expect(query.terms.map(({ text }) => text)).toEqual(
      vector.words ?? vector.terms?.map(({ text }) => text),
    );
    for (const [index, expected] of (vector.terms ?? []).entries()) {
      const term = query.terms[index];
      expect(term).toMatchObject({ kind: expected.kind, isPrefix: expected.prefix ?? false });
      if (expected.alternatives === undefined) continue;
      expect(term?.alternatives).toEqual(
        expected.alternatives.map(({ tokens, prefix, in: streams }) => ({
          tokens,
          isPrefix: prefix ?? false,
          streams,
        })),
      );
    }
  });

  test("keeps at most 32 terms, and of two as long the earlier one", () => {
    const words = Array.from({ length: 40 }, (_, index) => `word${index + 10}`);
    expect(wordsOf(words.join(" "))).toEqual(words.slice(0, maxTerms));
    const longer = [...words.slice(0, 35), ...words.slice(35).map((word) => `${word}-longer`)];
    expect(wordsOf(longer.join(" "))).toEqual([...longer.slice(0, 27), ...longer.slice(35)]);
  });

  test("counts characters and not their units when it keeps the longest", () => {
    const words = Array.from({ length: 32 }, (_, index) => `w${index + 10}`);
    expect(wordsOf(["🚀🚀", ...words].join(" "))).toEqual(words);
  });

  test("is cut only by terms that differ", () => {
    const words = Array.from({ length: 32 }, (_, index) => `word${index}`);
    expect(queryFromText([...words, ...words].join(" "))).toMatchObject({ isCut: false });
    expect(queryFromText([...words, "the", "a"].join(" "))).toMatchObject({ isCut: false });
    expect(queryFromText([...words, "one-more"].join(" "))).toMatchObject({ isCut: true });
  });

  test("looks for the first 64 tokens of a longer phrase, and says so", () => {
    const words = Array.from({ length: 65 }, (_, index) => `w${index}`);
    const [term] = termsOf(`"${words.join(" ")}"`);
    expect(term).toMatchObject({ kind: "phrase", isCut: true });
    expect(term?.alternatives).toEqual([
      { tokens: words.slice(0, maxTermTokens), isPrefix: false, streams: ["exact"] },
    ]);
    expect(queryFromText(words.join("/"))).toMatchObject({ isCut: false });
    expect(termsOf(`${words.join(".")}*`)[0]).toMatchObject({
      isCut: true,
      alternatives: [{ isPrefix: false }],
    });
    expect(termsOf(`"${words.slice(0, 64).join(" ")}"`)[0]?.isCut).toBe(false);
  });

  test("adds no more of a path than can be looked for", () => {
    const segments = Array.from({ length: 70 }, (_, index) => `s${index}`);
    expect(termsOf(segments.join("/"))[0]?.alternatives.map(({ tokens }) => tokens)).toEqual([
      ["s69"],
      ["s69"],
      ["s68", "s69"],
      ["s67", "s68", "s69"],
    ]);
  });

  test("has no more of a path when that would be cut before its end", () => {
    const [first, last] = ["a", "b"].map((letter) =>
      Array.from({ length: 40 }, (_, index) => `${letter}${index}`).join("."),
    );
    expect(termsOf(`${first}/${last}`)[0]?.alternatives.map(({ tokens }) => tokens.length)).toEqual([40]);
  });

  test("may be any text, and every term can be looked for", () => {
    fc.assert(
      fc.property(someText, (text) => {
        const query = queryFromText(text);
        if (query.kind !== "keyword") return;
        expect(query.terms.length).toBeGreaterThan(0);
        expect(query.terms.length).toBeLessThanOrEqual(maxTerms);
        for (const term of query.terms) {
          expect(term.text).not.toBe("");
          expect(term.alternatives.length).toBeGreaterThan(0);
          for (const { tokens, streams } of term.alternatives) {
            expect(streams.length).toBeGreaterThan(0);
            expect(tokens.length).toBeGreaterThan(0);
            expect(tokens.length).toBeLessThanOrEqual(maxTermTokens);
            expect(tokens.every((token) => token !== "")).toBe(true);
          }
        }
      }),
    );
  });

  test("asks for the same when it is asked for by the words of its terms", () => {
    const plain = fc.array(fc.stringMatching(/^[a-z][a-z0-9]{1,8}([-_.][a-z0-9]{1,5}){0,3}$/), {
      maxLength: 6,
    });
    fc.assert(
      fc.property(plain, (words) => {
        const terms = termsOf(words.join(" "));
        expect(termsOf(terms.map(({ text }) => text).join("  "))).toEqual(terms);
      }),
    );
  });
});
