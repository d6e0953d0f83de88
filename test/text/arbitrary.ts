/** Texts and queries at random: of any characters, and of those that are cut up in their own ways. */
import fc from "fast-check";

/** Characters of every class, and those that join, separate, quote, mark and vanish. */
const telling = fc.constantFrom(
  ..."aaabcstxAABSé0129 \t\n_--‐/\\.:@#+*\"“”'()!$^{}",
  ..."日本語かがｶﾞ한글ไม่มี",
  ..."βςΣжёЁמםمحـ",
  "\u0301",
  "\u064f",
  "\u00ad",
  "\u200d",
  "\ufe0f",
  "\u20e3",
  "ß",
  "İ",
  "ﬁ",
  "🚀",
  "❤",
  "€",
  "\u0000",
  "\ud800",
  "\udc00",
);

/** Short words that meet each other often, and names, paths and quotes that are made of them. */
const word = fc.constantFrom(
  ..."run running tests Test port the is getUserName user name userIDs session-recall session recall".split(
    " ",
  ),
  ..."src/recall/service.ts service.ts a.b C++ c# utf-8 UTF8 日本 日本語 本 語 用Rust写 🚀 x y".split(" "),
  "café",
  "*",
  '"',
  "-",
);

export const anyText = fc.string({ unit: "binary", maxLength: 60 });
export const tellingText = fc.string({ unit: telling, maxLength: 40 });
export const wordyText = fc
  .array(fc.tuple(word, fc.constantFrom(" ", " ", " ", "", "-", "/", "*", '"')), { maxLength: 12 })
  .map((pieces) => pieces.flat().join(""));

export const someText = fc.oneof(anyText, tellingText, wordyText, wordyText);
