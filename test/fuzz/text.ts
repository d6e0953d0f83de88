/**
 * Throws random texts and queries at the text search floor and at a real FTS5 table: no query may be an error,
 * the table must find what matches by definition and nothing else, and every text is found by its own pieces.
 *
 *     npx tsx test/fuzz/text.ts [inputs]
 *
 * 100,000 inputs unless told otherwise. MEMORYD_TEST_SEED repeats a run; a fault is printed with all it takes.
 */
import fc from "fast-check";
import { queryFromText } from "../../src/text/query.js";
import type { Term } from "../../src/text/term.js";
import { seedOfRun } from "../support/seeded.js";
import { someText } from "../text/arbitrary.js";
import { entryLayout, openIndex, recordLayout } from "../text/fts5-index.js";

const inputs = Number(process.argv[2] ?? 100_000);
const inputsPerRound = 1_000;
const textsPerRound = 60;

function termsOf(text: string): readonly Term[] {
  const query = queryFromText(text);
  return query.kind === "keyword" ? query.terms : [];
}

/** What went wrong with one round of inputs; `undefined` when nothing did. */
function faultOfRound(seed: number, count: number): unknown {
  const values = fc.sample(someText, { seed, numRuns: count });
  const layout = seed % 2 === 0 ? recordLayout : entryLayout;
  const texts = values
    .slice(0, textsPerRound)
    .map((_, at) =>
      Object.fromEntries(layout.columns.map((column, nth) => [column, values[at * 2 + nth] ?? ""])),
    );
  const index = openIndex(layout);
  try {
    for (const [at, text] of texts.entries()) index.add(`${at}`, text);
    for (const [at, query] of values.entries()) {
      const terms = termsOf(query);
      const match = at % 2 === 0 ? "any" : "all";
      const expected = index.matching(terms, match).toSorted();
      const found = terms.length === 0 ? [] : index.found(terms, match).toSorted();
      if (terms.length > 0 && found.join() !== expected.join()) {
        return { seed, query, match, found, expected, texts: texts.map((text, nth) => [nth, text]) };
      }
    }
    for (const [at, text] of texts.entries()) {
      for (const value of Object.values(text)) {
        for (const piece of value.split(/[\p{White_Space}"“”]+/u)) {
          const terms = termsOf(piece);
          if (terms.length > 0 && !index.found(terms, "all").includes(`${at}`)) return { seed, text, piece };
        }
      }
    }
    return undefined;
  } catch (error) {
    return { seed, error: String(error) };
  } finally {
    index.close();
  }
}

const seed = seedOfRun(`fuzzing text search with ${inputs} inputs`);
const start = performance.now();
for (let done = 0; done < inputs; done += inputsPerRound) {
  const fault = faultOfRound(seed + done / inputsPerRound, Math.min(inputsPerRound, inputs - done));
  if (fault === undefined) continue;
  process.stdout.write(`${JSON.stringify(fault, null, 2)}\n`);
  process.exit(1);
}
process.stdout.write(`no fault in ${Math.round((performance.now() - start) / 1000)} s\n`);
