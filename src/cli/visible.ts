/**
 * Stored text as a terminal may show it (memory.md M90): characters that drive a terminal, hide themselves or
 * turn the direction of their neighbours become escapes that can be seen. Pure; what programs read (`--json`,
 * a pipe) is not passed through here.
 *
 * | characters | shown |
 * | --- | --- |
 * | controls (C0, DEL, C1), bidi and other format characters, zero-width ones, tags | `\u{202e}` |
 * | lone surrogates, line and paragraph separators | `\u{d800}` |
 * | a variation selector right after the pictograph that it styles | as it is |
 * | TAB, LF and CR LF | in a block as they are, in a line escaped |
 */

const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

const escaped = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;

const isStyle = (character: string, before: string): boolean =>
  (character === "\ufe0e" || character === "\ufe0f") && /\p{Extended_Pictographic}$/u.test(before);

function show(text: string, isKept: (character: string, after: string) => boolean): string {
  return text.replace(hidden, (character, at: number) => {
    const end = at + character.length;
    if (isStyle(character, text.slice(Math.max(0, at - 2), at))) return character;
    return isKept(character, text.slice(end, end + 1)) ? character : escaped(character);
  });
}

/** For one line: whatever would leave the line is escaped too. */
export const visibleLine = (text: string): string => show(text, () => false);

/** For text of several lines, which keeps its lines and TABs. */
export const visibleBlock = (text: string): string =>
  show(text, (character, after) => /[\t\n]/.test(character) || (character === "\r" && after === "\n"));

/**
 * JSON in which the same characters are JSON's own escapes: a terminal shows them, and a reader of the JSON
 * gets the text verbatim.
 */
export const visibleJson = (json: string): string =>
  json.replace(hidden, (character) => {
    if (character === "\n") return character;
    const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
  });
