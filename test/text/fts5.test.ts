/** What adapters may count on of an FTS5 table that is filled and asked by `src/text/fts5.ts`. */
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { fts5FromTerm, fts5FromTerms, fts5RowFromTokens } from "../../src/text/fts5.js";
import { queryFromText } from "../../src/text/query.js";
import type { Term } from "../../src/text/term.js";
import { tokensFromText } from "../../src/text/tokens.js";

const columns = ["name", "body"];

function openTable() {
  const db = new Database(":memory:");
  db.exec(
    `create virtual table texts using fts5(name, body, joined, stems, content='', contentless_delete=1,
     tokenize="ascii tokenchars '+#'")`,
  );
  const insert = db.prepare(
    "insert into texts(rowid, name, body, joined, stems) values (@rowid, @name, @body, @joined, @stems)",
  );
  return {
    db,
    put: (rowid: number, name: string, body: string) => {
      db.prepare("delete from texts where rowid = ?").run(rowid);
      insert.run({ rowid, ...fts5RowFromTokens({ name: tokensFromText(name), body: tokensFromText(body) }) });
    },
    rows: (match: string) => db.prepare("select rowid from texts where texts match ?").pluck().all(match),
  };
}

function termsOf(text: string): readonly Term[] {
  const query = queryFromText(text);
  return query.kind === "keyword" ? query.terms : [];
}

const matchOf = (text: string): string => fts5FromTerms(termsOf(text), columns, "any");

test("terms are written with the columns that they may be in", () => {
  expect(matchOf("ports session-rec* c++")).toBe(
    '(({name body joined} : "ports" OR {stems} : "port") OR ' +
      '({name body} : "session rec" * OR {name body joined} : "sessionrec" *) OR ({joined} : "c++"))',
  );
  expect(fts5FromTerms(termsOf('"a b" 日本'), ["key"], "all")).toBe('(({key} : "a b") AND ({key} : "日本"))');
});

test("a row is replaced and deleted without its old tokens", () => {
  const { db, put, rows } = openTable();
  put(7, "old-name", "walking");
  expect(rows(matchOf("old-name"))).toEqual([7]);
  put(7, "new-name", "");
  expect(rows(matchOf("old walk"))).toEqual([]);
  expect(rows(matchOf("newname"))).toEqual([7]);
  db.prepare("delete from texts where rowid = ?").run(7);
  expect(rows(matchOf("new"))).toEqual([]);
  db.close();
});

test("the score of a query is the sum of its terms' scores", () => {
  const { db, put } = openTable();
  for (let row = 1; row <= 40; row += 1) {
    put(row, `note-${row % 7}`, `tests ${row % 3 === 0 ? "run on src/a.ts" : "ran"} ${"x ".repeat(row)}`);
  }
  const terms = termsOf("note-3 tests other/a.ts ru*");
  const score = (match: string, row: number) =>
    db
      .prepare("select bm25(texts, 4, 1, 1, 1) from texts where texts match ? and rowid = cast(? as integer)")
      .pluck()
      .get(match, row) as number | undefined;
  for (let row = 1; row <= 40; row += 1) {
    const parts = terms.map((term) => score(fts5FromTerm(term, columns), row) ?? 0);
    const sum = parts.reduce((total, part) => total + part, 0);
    expect(score(fts5FromTerms(terms, columns, "any"), row)).toBeCloseTo(sum, 12);
  }
  db.close();
});

test("beside a match, a rowid that is bound as a number must be cast", () => {
  const { db, put, rows } = openTable();
  for (const row of [1, 2, 3]) put(row, "name", "");
  const one = (condition: string) =>
    db
      .prepare(`select rowid from texts where texts match ? and ${condition}`)
      .pluck()
      .all(matchOf("name"), 2);
  expect(one("rowid = cast(? as integer)")).toEqual([2]);
  // Numbers are bound as reals, which FTS5 takes for no condition at all; should that change, casting may go.
  expect(one("rowid = ?")).toEqual(rows(matchOf("name")));
  db.close();
});
