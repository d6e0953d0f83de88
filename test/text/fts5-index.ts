/**
 * A text index on a real FTS5 table, with the columns and weights of one of the domains, and beside it the tokens
 * that it was given, so that what the engine finds can be held against what the definition says.
 */
import Database from "better-sqlite3";
import { fts5FromTerms, fts5RowFromTokens } from "../../src/text/fts5.js";
import { type FieldTokens, matchesTerms } from "../../src/text/match.js";
import type { Term } from "../../src/text/term.js";
import { tokensFromText } from "../../src/text/tokens.js";
import type { Fields } from "./vectors.js";

/** The columns of exact streams, and the weights of all columns in bm25. */
export type Layout = { readonly name: string; readonly columns: readonly string[]; readonly weights: string };

/** memory.md M64. */
export const recordLayout: Layout = {
  name: "records",
  columns: ["name", "targets", "status", "body"],
  weights: "4, 2, 2, 1, 1, 1",
};

/** recall.md R50. */
export const entryLayout: Layout = {
  name: "entries",
  columns: ["key", "content"],
  weights: "0.4, 0.2, 1, 1",
};

export type TextIndex = {
  readonly add: (name: string, fields: Fields) => void;
  /** Names of the texts that the engine finds, the best first. */
  readonly found: (terms: readonly Term[], match: "any" | "all") => readonly string[];
  /** Names of the texts that match by definition, in the order in which they were added. */
  readonly matching: (terms: readonly Term[], match: "any" | "all") => readonly string[];
  readonly close: () => void;
};

export function openIndex({ columns, weights }: Layout): TextIndex {
  const db = new Database(":memory:");
  const all = [...columns, "joined", "stems"];
  db.exec(
    `create virtual table texts using fts5(${all.join(", ")}, content='', contentless_delete=1,
     tokenize="ascii tokenchars '+#'")`,
  );
  const insert = db.prepare(
    `insert into texts(rowid, ${all.join(", ")}) values (@rowid, ${all.map((column) => `@${column}`).join(", ")})`,
  );
  const find = db
    .prepare(`select rowid from texts where texts match ? order by bm25(texts, ${weights}), rowid`)
    .pluck();
  const texts: { readonly name: string; readonly tokens: FieldTokens<string> }[] = [];
  return {
    add: (name, fields) => {
      const tokens = Object.fromEntries(
        columns.map((column) => [column, tokensFromText(fields[column] ?? "")] as const),
      );
      insert.run({ rowid: texts.length, ...fts5RowFromTokens(tokens) });
      texts.push({ name, tokens });
    },
    found: (terms, match) =>
      (find.all(fts5FromTerms(terms, columns, match)) as number[]).map((row) => texts[row]?.name ?? ""),
    matching: (terms, match) =>
      texts.filter(({ tokens }) => matchesTerms(terms, tokens, match)).map(({ name }) => name),
    close: () => db.close(),
  };
}
