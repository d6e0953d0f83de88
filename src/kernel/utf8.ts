/**
 * Sizes, order and faults of text as UTF-8, in which every limit of memoryd is counted and every list is
 * ordered (design section 2). JavaScript's own `<` compares UTF-16 units and is wrong above U+FFFF.
 */

/** Size in bytes as UTF-8. A lone surrogate counts as the three bytes of U+FFFD. */
export const byteLength = (text: string): number => Buffer.byteLength(text, "utf8");

const isSurrogate = (codePoint: number): boolean => codePoint >= 0xd800 && codePoint <= 0xdfff;

/** Negative, zero or positive as `a` sorts before, with or after `b` by UTF-8 bytes; both well-formed. */
export function compareUtf8(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  for (let index = 0; index < shorter; index += 1) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left === right) continue;
    // A surrogate stands for a code point above U+FFFF and so sorts after every other unit.
    if (isSurrogate(left) !== isSurrogate(right)) return isSurrogate(left) ? 1 : -1;
    return left - right;
  }
  return a.length - b.length;
}

/**
 * The byte offset (from the start, as UTF-8) of the first lone surrogate or of the first code point that
 * `isForbidden` names; `undefined` when there is none.
 */
export function faultOffset(text: string, isForbidden: (codePoint: number) => boolean): number | undefined {
  let bytes = 0;
  for (let index = 0; index < text.length; index += 1) {
    const codePoint = text.codePointAt(index) as number;
    if (isSurrogate(codePoint) || isForbidden(codePoint)) return bytes;
    bytes += codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
    if (codePoint > 0xffff) index += 1;
  }
  return undefined;
}
