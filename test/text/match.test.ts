/** Where and how a term is found in the fields of a text (recall.md R56, memory.md M64). */
import { describe, expect, test } from "vitest";
import { findTerm } from "../../src/text/match.js";
import { queryFromText } from "../../src/text/query.js";
import { tokensFromText } from "../../src/text/tokens.js";

const record = {
  name: tokensFromText("session-recall"),
  targets: tokensFromText(["src/recall/hook.ts", "C++"]),
  body: tokensFromText("Recalling sessions; 日本語 and session recall again"),
};

function findings(query: string): readonly string[] {
  const asked = queryFromText(query);
  const terms = asked.kind === "keyword" ? asked.terms : [];
  return terms.flatMap((term) =>
    findTerm(term, record).map(({ field, how, stream, count }) => `${field} ${stream} ${how} ${count}`),
  );
}

describe("a term is found", () => {
  test.each([
    [
      "recall",
      [
        "name exact exact 1",
        "targets exact exact 1",
        "body exact exact 1",
        "name stems stem 1",
        "targets stems stem 1",
        "body stems stem 2",
      ],
    ],
    ["sessionrecall", ["name joined joined 1", "name stems stem 1"]],
    [
      "session-recall",
      ["name exact phrase 1", "body exact phrase 1", "name joined joined 1", "name stems stem 1"],
    ],
    ["sess*", ["name exact prefix 1", "body exact prefix 2", "name joined prefix 1"]],
    ["recall/hook.ts", ["targets exact phrase 1", "targets exact phrase 1"]],
    ['"session recall"', ["name exact phrase 1", "body exact phrase 1"]],
    ['"again"', ["body exact phrase 1"]],
    ["日本", ["body exact gram 1"]],
    ["語", ["body exact gram 1"]],
    ["c++", ["targets joined joined 1"]],
    ["absent", []],
  ])("%s: where, how and how often", (query, expected) => {
    expect(findings(query)).toEqual(expected);
  });
});
