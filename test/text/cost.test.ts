/**
 * Cutting up costs as much as there is to cut: the largest text of the worst that can be made up is done in
 * moments. Were any step quadratic in it, a single text would take many seconds.
 */
import { expect, test } from "vitest";
import { queryFromText } from "../../src/text/query.js";
import { tokensFromText } from "../../src/text/tokens.js";

const length = 65_536;
const budgetMs = 4_000;

test.each([
  ["letters", "a"],
  ["capitals", "A"],
  ["humps", "aB"],
  ["plurals of capitals", "ABs"],
  ["joined parts", "a-"],
  ["joiners", "_-"],
  ["dots", "."],
  ["spaces", " "],
  ["spaces and stars", " *"],
  ["slashes", "a/"],
  ["both slashes", "\\/"],
  ["stars", "a*"],
  ["signs", "c++#"],
  ["straight quotes", '"a'],
  ["opening quotes", "“"],
  ["closing quotes", "”“a"],
  ["Han", "日"],
  ["Han and Latin", "日a"],
  ["marks", "\u0301"],
  ["marks on a letter", "e\u0301\u0323"],
  ["marks without a base of ours", "\u0941"],
  ["tatweel", "\u0640"],
  ["invisible characters", "\u200d"],
  ["characters that become many", "\ufdfa"],
  ["pictographs", "🚀\ufe0f"],
  ["lone surrogates", "\ud800"],
  ["one letter apart", "a "],
  ["words", "lorem ipsum dolor "],
])("%s", (_title, piece) => {
  const text = piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
  const start = performance.now();
  tokensFromText(text);
  queryFromText(text);
  queryFromText(`x${text}x`);
  queryFromText(`"${text}"`);
  expect(performance.now() - start).toBeLessThan(budgetMs);
});
