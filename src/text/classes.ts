/**
 * Which code points make words, grams and symbols (recall.md R43, step 2), as classes of regular expressions
 * with the flag `v`. Everything in none of them separates.
 *
 * | class | code points |
 * | --- | --- |
 * | gram | letters, marks and numbers of scripts that are written without spaces, or glue particles to words |
 * | word | every other letter, mark and number |
 * | symbol | pictographs and the signs of currencies, music and the like, but for ASCII |
 */

const sign = String.raw`[\p{L}\p{M}\p{N}]`;

// Extensions and not the script alone, so that a sign shared by several scripts stays within its run.
const gramScript = [
  "Han",
  "Hiragana",
  "Katakana",
  "Hangul",
  "Bopomofo",
  "Thai",
  "Lao",
  "Khmer",
  "Myanmar",
  "Tibetan",
]
  .map((script) => String.raw`\p{Script_Extensions=${script}}`)
  .join("");

export const gramClass = `[${sign}&&[${gramScript}]]`;
export const wordClass = `[${sign}--[${gramScript}]]`;
export const symbolClass = String.raw`[[\p{So}\p{Sc}\p{Extended_Pictographic}]--\p{ASCII}]`;

/** What joins two runs of word characters into one name: low line, hyphen-minus and the hyphen proper. */
export const joinerClass = String.raw`[_\-\u2010]`;
