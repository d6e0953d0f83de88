/** English stems: words for each step of Porter2, and the tokens that no rule of English is for. */
import { expect, test } from "vitest";
import { stemFromToken } from "../../src/text/stems.js";

test.each([
  ["a plural", "caresses ties cries gas gaps kiwis", "caress tie cri gas gap kiwi"],
  [
    "past and present forms",
    "agreed plastered motoring hopped hoping falling",
    "agre plaster motor hop hope fall",
  ],
  ["a final y", "cry by say happily", "cri by say happili"],
  ["long endings", "relational conditional rationalize hopefulness", "relat condit ration hope"],
  ["more endings", "revival allowance inference adjustment adoption", "reviv allow infer adjust adopt"],
  ["the last letters", "probate rate controlling rolled", "probat rate control roll"],
  [
    "words with rules of their own",
    "skis dying idly news sky inning proceed",
    "ski die idl news sky inning proceed",
  ],
  ["regions that begin late", "generous communism arsenal general", "generous communism arsenal general"],
])("%s is stemmed", (_title, words, stems) => {
  expect(words.split(" ").map(stemFromToken).join(" ")).toBe(stems);
});

test.each(["as", "x86", "utf8", "naïves", "日本", "2024", "поиски"])("%s is its own stem", (token) => {
  expect(stemFromToken(token)).toBe(token);
});
