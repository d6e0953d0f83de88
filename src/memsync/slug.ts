/**
 * A name for people made from any text (sync.md Y1). Pure; slugs are not unique and have no length limit.
 *
 * | code point | becomes |
 * | --- | --- |
 * | a–z, 0–9 | itself |
 * | A–Z | a–z |
 * | U+0130 (I with dot), U+212A (kelvin sign) | `i`, `k`, the ASCII letters they are lower-cased to |
 * | anything else | one `-`, unless the slug is empty or already ends in one |
 *
 * A final `-` is dropped. The map is by code point, because `toLowerCase()` makes two of U+0130.
 */

const hyphen = "-";
const foldedToAscii: ReadonlyMap<string, string> = new Map([
  ["\u0130", "i"],
  ["\u212a", "k"],
]);

/** The slug of `name`, or `fallback` unchanged when nothing is left of it. */
export function slug(name: string, fallback: string): string {
  let result = "";
  for (const character of name) {
    if (/[a-z0-9]/.test(character)) result += character;
    else if (/[A-Z]/.test(character)) result += character.toLowerCase();
    else if (foldedToAscii.has(character)) result += foldedToAscii.get(character);
    else if (result !== "" && !result.endsWith(hyphen)) result += hyphen;
  }
  const trimmed = result.endsWith(hyphen) ? result.slice(0, -1) : result;
  return trimmed === "" ? fallback : trimmed;
}
