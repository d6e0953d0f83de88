/**
 * What text a record and the cursor may hold (memory.md M8, M9), byte for byte and the same at every door.
 *
 * | kind  | used for          | refused code points                                                      |
 * | block | body, cursor      | U+0000–1F but TAB, LF, CR; U+007F; U+0080–9F (they drive terminals)        |
 * | line  | target, status    | U+0000–1F; U+007F; U+0080–9F; U+2028; U+2029                               |
 * | both  |                   | lone surrogates                                                          |
 *
 * All else is kept as sent. Whitespace is Unicode's White_Space, which no `trim()` of a language matches.
 */
import { faultOffset } from "../kernel/utf8.js";

const isWhitespace = (unit: number): boolean =>
  (unit >= 0x09 && unit <= 0x0d) ||
  unit === 0x20 ||
  unit === 0x85 ||
  unit === 0xa0 ||
  unit === 0x1680 ||
  (unit >= 0x2000 && unit <= 0x200a) ||
  unit === 0x2028 ||
  unit === 0x2029 ||
  unit === 0x202f ||
  unit === 0x205f ||
  unit === 0x3000;

/** The text without whitespace (M8) at either end. */
export function trimWhitespace(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isWhitespace(text.charCodeAt(start))) start += 1;
  while (end > start && isWhitespace(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** Whether the text holds nothing but whitespace (M8). */
export const isBlank = (text: string): boolean => trimWhitespace(text) === "";

/**
 * A word in the form in which white space around it and letter case do not count. Upper case comes first,
 * because a few letters have several lower-case forms.
 */
export const caseFolded = (text: string): string => trimWhitespace(text).toUpperCase().toLowerCase();

const isControl = (codePoint: number): boolean =>
  codePoint < 0x20 || (codePoint >= 0x7f && codePoint <= 0x9f);
const isTabOrLineEnd = (codePoint: number): boolean =>
  codePoint === 0x09 || codePoint === 0x0a || codePoint === 0x0d;

/** Says what is wrong with a text of several lines, naming the byte, never the text; absent when it is fine. */
export function blockFault(text: string): string | undefined {
  const offset = faultOffset(text, (codePoint) => isControl(codePoint) && !isTabOrLineEnd(codePoint));
  return offset === undefined ? undefined : describe(text, offset);
}

/** The same for a text of one line. */
export function lineFault(text: string): string | undefined {
  const isForbidden = (codePoint: number): boolean =>
    isControl(codePoint) || codePoint === 0x2028 || codePoint === 0x2029;
  const offset = faultOffset(text, isForbidden);
  return offset === undefined ? undefined : describe(text, offset);
}

function describe(text: string, offset: number): string {
  const before = Buffer.from(text, "utf8").subarray(0, offset).toString("utf8");
  const unit = text.charCodeAt(before.length);
  if (unit === 0x0a || unit === 0x0d || unit === 0x2028 || unit === 0x2029) {
    return `has a line break at byte ${offset}; it must be a single line`;
  }
  if ((unit & 0xf800) === 0xd800) return `has a lone surrogate at byte ${offset}; send well-formed Unicode`;
  return `has a control character at byte ${offset}; remove it`;
}
