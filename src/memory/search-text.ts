/**
 * A record as text that is searched (memory.md M62, M64): its fields, their weights, and why a record was
 * found. Matching itself is defined in `src/text`. Pure.
 */
import { type FieldTokens, findTerm } from "../text/match.js";
import type { Term } from "../text/term.js";
import { type Stream, type Tokens, tokensFromText } from "../text/tokens.js";
import type { StoredRecord } from "./model.js";

/** The fields that are searched, in the order in which they are told. */
export const searchFields = ["name", "targets", "status", "body"] as const;
export type SearchField = (typeof searchFields)[number];

const exactWeights: Readonly<Record<SearchField, number>> = { name: 4, targets: 2, status: 2, body: 1 };
const derivedWeight = 1;

/** In the order of `searchFields`, then of joined names and of stems. */
export const searchWeights: readonly number[] = [
  ...searchFields.map((field) => exactWeights[field]),
  derivedWeight,
  derivedWeight,
];

/** What of a record is searched. */
export type SearchedText = Pick<StoredRecord, "name" | "status" | "body"> & {
  readonly refs: readonly { readonly target: string }[];
};

/** The tokens of a record, field by field. */
export const tokensFromRecord = ({ name, refs, status, body }: SearchedText): FieldTokens<SearchField> => ({
  name: tokensFromText(name),
  targets: tokensFromText(refs.map(({ target }) => target)),
  status: tokensFromText(status),
  body: tokensFromText(body),
});

/** Whether both read the same to a search; their names are. */
export const sameSearchedText = (a: SearchedText, b: SearchedText): boolean =>
  a.status === b.status &&
  a.body === b.body &&
  a.refs.length === b.refs.length &&
  a.refs.every(({ target }, index) => target === b.refs[index]?.target);

/** What an engine says of one term, and of the hits that have it. */
export type TermFacts = {
  /** Records of the workspace that have the term. */
  readonly recordCount: number;
  /** Its part of the score, by name of the hit. */
  readonly scores: ReadonlyMap<string, number>;
};

export type TermScore = {
  readonly term: string;
  readonly prefix: boolean;
  readonly idf: number;
  readonly weightedCount: number;
  readonly score: number;
  readonly fields: readonly SearchField[];
};

export type Explanation = {
  readonly terms: readonly TermScore[];
  readonly coverage: number;
  readonly missingWords: readonly string[];
};

const weightOf = (field: SearchField, stream: Stream): number =>
  stream === "exact" ? exactWeights[field] : derivedWeight;

/** How rare a term is among the records of its workspace, and of nobody else's. */
const idfOf = (recordCount: number, termCount: number): number =>
  Math.log(1 + Math.max(recordCount - termCount + 0.5, 0) / (termCount + 0.5));

/** Why a record was found by these terms. `factsOf` are those of the term at the index. */
export function explanationFrom(
  record: SearchedText,
  terms: readonly Term[],
  recordCount: number,
  facts: readonly TermFacts[],
): Explanation {
  const tokens: { readonly [field in SearchField]: Tokens } = tokensFromRecord(record);
  const found: TermScore[] = [];
  const missingWords: string[] = [];
  for (const [index, term] of terms.entries()) {
    const findings = findTerm(term, tokens);
    if (findings.length === 0) {
      missingWords.push(term.text);
      continue;
    }
    const has = new Set(findings.map(({ field }) => field));
    found.push({
      term: term.text,
      prefix: term.isPrefix,
      idf: idfOf(recordCount, facts[index]?.recordCount ?? 0),
      weightedCount: findings.reduce(
        (sum, { field, stream, count }) => sum + count * weightOf(field, stream),
        0,
      ),
      score: facts[index]?.scores.get(record.name) ?? 0,
      fields: searchFields.filter((field) => has.has(field)),
    });
  }
  return { terms: found, coverage: found.length / terms.length, missingWords };
}
