/**
 * What is found: the vectors by definition and on a real FTS5 table, in the columns of both domains; and for
 * texts and queries at random that both find the same.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { queryFromText } from "../../src/text/query.js";
import type { Term } from "../../src/text/term.js";
import { tokensFromText } from "../../src/text/tokens.js";
import { createSeeded, seedOfRun } from "../support/seeded.js";
import { someText, wordyText } from "./arbitrary.js";
import { entryLayout, type Layout, openIndex, recordLayout, type TextIndex } from "./fts5-index.js";
import { type Fields, type MatchingVector, matchingVectors } from "./vectors.js";

function termsOf(text: string): readonly Term[] {
  const query = queryFromText(text);
  return query.kind === "keyword" ? query.terms : [];
}

/** The fields of a vector's text in a layout; `undefined` for those of a record among entries. */
function fieldsIn(layout: Layout, text: string | Fields): Fields | undefined {
  const fields = typeof text === "string" ? { content: text } : text;
  if (Object.keys(fields).every((field) => layout.columns.includes(field))) return fields;
  if (layout !== recordLayout) return undefined;
  return { name: fields.key ?? "", body: fields.content ?? "" };
}

function indexOf(layout: Layout, { texts }: MatchingVector): TextIndex | undefined {
  const byName = Object.entries(texts).map(([name, text]) => [name, fieldsIn(layout, text)] as const);
  if (byName.some(([, fields]) => fields === undefined)) return undefined;
  const index = openIndex(layout);
  for (const [name, fields] of byName) index.add(name, fields ?? {});
  return index;
}

describe.each([recordLayout, entryLayout])("among $name", (layout) => {
  const cases = matchingVectors.flatMap((vector) => {
    const index = indexOf(layout, vector);
    return index === undefined ? [] : [{ id: vector.id, title: vector.title, vector, index }];
  });

  test.each(cases)("($id) $title", ({ vector, index }) => {
    for (const match of ["any", "all"] as const) {
      for (const [query, names] of Object.entries(vector[match] ?? {})) {
        const terms = termsOf(query);
        const sorted = [...names].sort();
        expect(terms.length === 0 ? [] : [...index.found(terms, match)].sort(), query).toEqual(sorted);
        expect(terms.length === 0 ? [] : [...index.matching(terms, match)].sort(), query).toEqual(sorted);
      }
    }
    for (const [query, names] of Object.entries(vector.ranked ?? {})) {
      expect(index.found(termsOf(query), "any").slice(0, names.length), query).toEqual(names);
    }
    index.close();
  });
});

describe("an index", () => {
  test("takes any query and finds what matches by definition", () => {
    const layouts = [recordLayout, entryLayout];
    fc.assert(
      fc.property(
        fc.constantFrom(...layouts),
        fc.array(fc.array(someText, { minLength: 2, maxLength: 4 }), { maxLength: 12 }),
        fc.array(someText, { maxLength: 20 }),
        (layout, texts, queries) => {
          const index = openIndex(layout);
          for (const [at, values] of texts.entries()) {
            index.add(`${at}`, Object.fromEntries(layout.columns.map((name, n) => [name, values[n] ?? ""])));
          }
          const asked = [...queries, ...texts.flat().slice(0, 10)].map(termsOf);
          for (const terms of asked.filter(({ length }) => length > 0)) {
            for (const match of ["any", "all"] as const) {
              expect([...index.found(terms, match)].sort()).toEqual([...index.matching(terms, match)].sort());
            }
          }
          index.close();
        },
      ),
      { numRuns: 60 },
    );
  });

  test("(recall V65) finds among 500 texts what each of 600 queries asks for and nothing else", () => {
    const { seed, below } = createSeeded(seedOfRun("random texts and queries"));
    const [queries = [], texts = []] = [600, 1000].map((numRuns) => fc.sample(someText, { seed, numRuns }));
    const index = openIndex(entryLayout);
    for (let at = 0; at < 500; at += 1) {
      index.add(`${at}`, { key: texts[below(1000)] ?? "", content: texts[at] ?? "" });
    }
    let hits = 0;
    for (const terms of queries.map(termsOf).filter(({ length }) => length > 0)) {
      for (const match of ["any", "all"] as const) {
        const found = index.found(terms, match);
        hits += found.length;
        expect([...found].sort()).toEqual([...index.matching(terms, match)].sort());
      }
    }
    index.close();
    // A table that found nothing would agree with itself as well.
    expect(hits).toBeGreaterThan(600);
  });
});

/** What a text must be found by: pieces of it between white space, and its tokens and their beginnings. */
const piecesOf = (text: string): readonly string[] =>
  text.split(/[\p{White_Space}"“”]+/u).filter((piece) => termsOf(piece).length > 0);

describe("a text", () => {
  function expectFound(text: string, queries: readonly string[]): void {
    const index = openIndex(entryLayout);
    index.add("it", { content: text });
    for (const query of queries) {
      expect(index.found(termsOf(query), "all"), JSON.stringify({ text, query })).toEqual(["it"]);
    }
    index.close();
  }

  test("is found by each piece of it that white space and quotes bound", () => {
    fc.assert(
      fc.property(someText, (text) => {
        expectFound(text, piecesOf(text));
      }),
      { numRuns: 200 },
    );
  });

  test("is found by all of itself, and by itself in quotes", () => {
    fc.assert(
      fc.property(wordyText, (text) => {
        const unquoted = text.replaceAll(/["“”]/g, " ");
        if (termsOf(unquoted).length === 0) return;
        expectFound(text, [unquoted]);
        expectFound(unquoted, [unquoted, `"${unquoted}"`]);
      }),
      { numRuns: 200 },
    );
  });

  test("is found by each of its tokens and by the beginnings of its words", () => {
    fc.assert(
      fc.property(someText, (text) => {
        const { exact, joined } = tokensFromText(text);
        const words = [...exact, ...joined].filter((token) => /^[\p{L}\p{N}]+$/u.test(token));
        const beginnings = words.filter((word) => /^[a-z0-9]+$/.test(word));
        expectFound(text, [...words, ...beginnings.map((word) => `${word.slice(0, 2)}*`)]);
      }),
      { numRuns: 100 },
    );
  });

  test("(recall V61) is found by a word 65,000 bytes from its start", () => {
    expectFound(`${"filler ".repeat(9_300)}needle`, ["needle"]);
    expectFound(`${"あ".repeat(21_000)}needle日本`, ["needle日本"]);
  });
});
