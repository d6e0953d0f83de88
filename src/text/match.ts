/**
 * What a term finds in tokens, read off its definition and without an index (recall.md R45, R46, R56). It says
 * where and how a hit was found, searches texts that no engine keeps, and is what engines are tested against.
 * Its cost is tokens times terms, so it is for a page of hits and for small sets.
 */
import type { Alternative, Term } from "./term.js";
import type { Stream, Tokens } from "./tokens.js";

export type How = "exact" | "stem" | "joined" | "prefix" | "phrase" | "gram";

/** Where a term was found, how, and how often. */
export type Finding<Field extends string> = {
  readonly field: Field;
  readonly stream: Stream;
  readonly how: How;
  readonly count: number;
};

/** The tokens of an entry or record by its fields. */
export type FieldTokens<Field extends string> = { readonly [field in Field]: Tokens };

/** Whether the tokens stand in a stream from `start` on; the stream is long enough. */
function isAt({ tokens, isPrefix }: Alternative, stream: readonly string[], start: number): boolean {
  for (let offset = 0; offset < tokens.length; offset += 1) {
    const there = stream[start + offset];
    const token = tokens[offset];
    if (there === token) continue;
    const isBeginning = isPrefix && offset === tokens.length - 1 && token !== undefined;
    if (!isBeginning || !there?.startsWith(token)) return false;
  }
  return true;
}

function countIn(alternative: Alternative, stream: readonly string[]): number {
  let count = 0;
  for (let start = 0; start + alternative.tokens.length <= stream.length; start += 1) {
    if (isAt(alternative, stream, start)) count += 1;
  }
  return count;
}

function howOf(term: Term, { tokens }: Alternative, stream: Stream): How {
  if (stream === "stems") return "stem";
  if (term.isPrefix) return "prefix";
  if (stream === "joined") return "joined";
  if (term.kind === "gram") return "gram";
  return term.kind === "phrase" || tokens.length > 1 ? "phrase" : "exact";
}

/** Every place and way in which `term` is found, in the order of its alternatives; none when it is not. */
export function findTerm<Field extends string>(
  term: Term,
  fields: FieldTokens<Field>,
): readonly Finding<Field>[] {
  const byField = Object.entries<Tokens>(fields) as [Field, Tokens][];
  return term.alternatives.flatMap((alternative) =>
    alternative.streams.flatMap((stream) =>
      byField
        .map(([field, tokens]) => ({
          field,
          stream,
          how: howOf(term, alternative, stream),
          count: countIn(alternative, tokens[stream]),
        }))
        .filter(({ count }) => count > 0),
    ),
  );
}

/** Whether any or all of the terms are found, each in whatever field. */
export function matchesTerms(
  terms: readonly Term[],
  fields: FieldTokens<string>,
  match: "any" | "all",
): boolean {
  const isFound = (term: Term): boolean => findTerm(term, fields).length > 0;
  return match === "any" ? terms.some(isFound) : terms.every(isFound);
}
