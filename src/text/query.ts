/**
 * A query as terms (recall.md R45 to R48; memory.md M63). Every text is a query and nothing in it is an operator;
 * how terms combine is the caller's matter.
 *
 * | the query | is |
 * | --- | --- |
 * | empty, white space, `*` | recent: the newest come, by time and without a score |
 * | has no token, as `->` | no terms: nothing matches |
 * | anything else | keyword: one to 32 terms |
 */
import { gramClass, joinerClass, symbolClass, wordClass } from "./classes.js";
import { normalized } from "./fold.js";
import { type Term, termFromChunk, termFromPhrase } from "./term.js";

export type Query =
  | { readonly kind: "recent" }
  | { readonly kind: "no_terms" }
  /** `isCut`: something of the query is not looked for, be it whole terms or the end of a very long one. */
  | { readonly kind: "keyword"; readonly terms: readonly Term[]; readonly isCut: boolean };

export const maxTerms = 32;

/** Words that say nothing of what is looked for. Texts keep them, or a phrase would not be found. */
const stopWords: ReadonlySet<string> = new Set(
  (
    "a an the is are was were be been being do does did doing have has had having i you he she it we they me him " +
    "her us them my your his its our their this that these those of in on at to for from by with about as into " +
    "and or but if then so what when where who whom which why how not no nor can could would should will shall " +
    "may might must there here just than too very"
  ).split(" "),
);

const isWhiteSpace = (text: string): boolean => /^\p{White_Space}*$/u.test(text);

// Neither quoted run holds its own opening quote, so an unpaired one never makes the search start over.
const quoted = `"([^"]*)"|“([^“”]*)”`;
const inChunk = `[${wordClass}${gramClass}${symbolClass}${joinerClass}${String.raw`\/\\.:@#+*`}]`;
const pieces = new RegExp(`${quoted}|(${inChunk}+)`, "gv");

/** The terms of a query in its order; what is written twice the same way is looked at once. */
function termsFromText(text: string): readonly Term[] {
  const phrases = new Set<string>();
  const chunks = new Set<string>();
  const terms: Term[] = [];
  for (const [, straight, curly, words] of normalized(text).matchAll(pieces)) {
    const phrase = straight ?? curly;
    const [seen, written] = phrase === undefined ? [chunks, words ?? ""] : [phrases, phrase];
    if (seen.has(written)) continue;
    seen.add(written);
    const term = seen === phrases ? termFromPhrase(written) : termFromChunk(written);
    if (term !== undefined) terms.push(term);
  }
  return terms;
}

function saysNothing({ kind, alternatives }: Term): boolean {
  const token = alternatives[0]?.tokens[0] ?? "";
  return kind === "word" && (stopWords.has(token) || /^[a-z]$/.test(token));
}

/** Terms that look for the same count once, however each was written. */
function distinct(terms: readonly Term[]): readonly Term[] {
  const byMeaning = new Map<string, Term>();
  for (const term of terms) {
    const meaning = JSON.stringify(term.alternatives);
    if (!byMeaning.has(meaning)) byMeaning.set(meaning, term);
  }
  return [...byMeaning.values()];
}

/** The longest terms, in the order of the query; of two as long the earlier one. */
function longest(terms: readonly Term[]): readonly Term[] {
  if (terms.length <= maxTerms) return terms;
  const byLength = terms
    .map((term, index) => ({ index, length: [...term.text].length }))
    .sort((a, b) => b.length - a.length || a.index - b.index);
  const kept = new Set(byLength.slice(0, maxTerms).map(({ index }) => index));
  return terms.filter((_term, index) => kept.has(index));
}

/** What a text asks for. */
export function queryFromText(text: string): Query {
  const isStar = text.includes("*") && isWhiteSpace(text.replace("*", ""));
  if (isStar || isWhiteSpace(text)) return { kind: "recent" };
  const all = termsFromText(text);
  const telling = all.filter((term) => !saysNothing(term));
  const asked = distinct(telling.length > 0 ? telling : all);
  const terms = longest(asked);
  if (terms.length === 0) return { kind: "no_terms" };
  return { kind: "keyword", terms, isCut: terms.length < asked.length || terms.some(({ isCut }) => isCut) };
}
