/**
 * Terms and tokens in the form of SQLite's FTS5 (recall.md R102): the text of a MATCH and the values of an index
 * row. Two domains share it, each with its own columns; the tables and statements are their adapters'.
 *
 * A table is `fts5(<exact columns>, joined, stems, …, content='', contentless_delete=1, tokenize="ascii tokenchars
 * '+#'")`: one column for each field's exact stream and one each for the other two streams of all fields together.
 * Its tokenizer does no more than split at spaces, because no token holds an ASCII character that it splits at.
 * Of a query's score, a term's part is its score alone. Beside a MATCH, write `rowid = cast(? as integer)`: a real,
 * which a number is bound as, would be no condition at all.
 */
import type { FieldTokens } from "./match.js";
import type { Alternative, Term } from "./term.js";
import type { Stream, Tokens } from "./tokens.js";

/** Quotes make every token plain text: no token holds one. */
function phraseFromAlternative({ tokens, isPrefix }: Alternative): string {
  return `"${tokens.join(" ")}"${isPrefix ? " *" : ""}`;
}

const columnsOf = (stream: Stream, exactColumns: readonly string[]): readonly string[] =>
  stream === "exact" ? exactColumns : [stream];

/** The MATCH that finds one term, in parentheses. `exactColumns` are the columns of the exact streams. */
export function fts5FromTerm(term: Term, exactColumns: readonly string[]): string {
  const alternatives = term.alternatives.map((alternative) => {
    const columns = alternative.streams.flatMap((stream) => columnsOf(stream, exactColumns));
    return `{${columns.join(" ")}} : ${phraseFromAlternative(alternative)}`;
  });
  return `(${alternatives.join(" OR ")})`;
}

/** The MATCH that finds any or all of the terms, in parentheses, so that more can be demanded beside it. */
export function fts5FromTerms(
  terms: readonly Term[],
  exactColumns: readonly string[],
  match: "any" | "all",
): string {
  const operator = match === "any" ? " OR " : " AND ";
  return `(${terms.map((term) => fts5FromTerm(term, exactColumns)).join(operator)})`;
}

/** The values of an index row by column: each field's exact stream, then `joined` and `stems` of all fields. */
export function fts5RowFromTokens<Field extends string>(
  fields: FieldTokens<Field>,
): { readonly [column in Field | "joined" | "stems"]: string } {
  const byField = Object.entries<Tokens>(fields);
  const all = (stream: Stream): string => byField.map(([, tokens]) => tokens[stream].join(" ")).join(" ");
  const exact = byField.map(([field, tokens]) => [field, tokens.exact.join(" ")]);
  return { ...Object.fromEntries(exact), joined: all("joined"), stems: all("stems") };
}
