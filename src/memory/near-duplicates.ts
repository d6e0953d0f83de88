/**
 * Names that are so alike that one of them was probably meant to be the other (memory.md M86).
 *
 * | two names                                                                            | example                       |
 * | ------------------------------------------------------------------------------------ | ----------------------------- |
 * | equal without hyphens                                                                | `cache-key`, `cachekey`       |
 * | the same words in another order                                                      | `cache-key`, `key-cache`      |
 * | one insert, delete, replace or swap apart, both of 8 or more characters, no digit touched | `retry-budget`, `retry-budgets` |
 *
 * Names that differ by a digit are siblings: `adr-0012`, `adr-0013`. Few names are put into an index by all
 * that a near one would share with them, so that many can then be held against it without comparing pairs.
 */

const shortestForEdits = 8;

const withoutHyphens = (name: string): string => name.replaceAll("-", "");
const inOrder = (name: string): string => name.split("-").sort().join("-");
const without = (name: string, at: number): string => name.slice(0, at) + name.slice(at + 1);
const isDigit = (text: string): boolean => /\d/.test(text);

/** The part of two names in which they differ. */
function difference(a: string, b: string): readonly [string, string] {
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < shorter - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  return [a.slice(start, a.length - end), b.slice(start, b.length - end)];
}

function isOneEdit(a: string, b: string): boolean {
  if (Math.min(a.length, b.length) < shortestForEdits) return false;
  const [left, right] = difference(a, b);
  if (isDigit(left) || isDigit(right)) return false;
  const isInsertOrReplace = left.length <= 1 && right.length <= 1;
  const isSwap = left.length === 2 && left === [...right].reverse().join("");
  return isInsertOrReplace || isSwap;
}

/** Whether one of the two was probably meant to be the other. */
export const isNearDuplicate = (a: string, b: string): boolean =>
  a !== b && (withoutHyphens(a) === withoutHyphens(b) || inOrder(a) === inOrder(b) || isOneEdit(a, b));

/** Two near duplicates have at least one of these in common. */
function keysOf(name: string): Set<string> {
  const keys = new Set([`joined ${withoutHyphens(name)}`, `words ${inOrder(name)}`]);
  if (name.length < shortestForEdits - 1) return keys;
  keys.add(`edit ${name}`);
  for (let at = 0; at < name.length; at += 1) keys.add(`edit ${without(name, at)}`);
  return keys;
}

/** Answers for any name which of the given ones are its near duplicates. */
export function createNearDuplicates(names: Iterable<string>): (name: string) => string[] {
  const namesByKey = new Map<string, string[]>();
  for (const name of names) {
    for (const key of keysOf(name)) {
      const group = namesByKey.get(key);
      if (group === undefined) namesByKey.set(key, [name]);
      else group.push(name);
    }
  }
  return (name) => {
    const near = new Set<string>();
    for (const key of keysOf(name)) {
      for (const other of namesByKey.get(key) ?? []) if (isNearDuplicate(name, other)) near.add(other);
    }
    return [...near];
  };
}
