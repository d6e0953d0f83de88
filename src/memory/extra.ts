/**
 * The unknown keys of a record's file (memory.md M88): kept with the record through every write, shown by files
 * alone. All but this file handle them as one opaque text: a JSON object of each key to its value, and that
 * value again as JSON text, so that a number keeps its spelling. Equal keys and values give equal texts.
 */
import { byteLength, compareUtf8 } from "../kernel/utf8.js";

/** A key, and its value as JSON text in one line. */
export type ExtraEntry = readonly [key: string, json: string];

/** The text of a record without unknown keys. */
export const noExtra = "{}";

const byKey = ([a]: ExtraEntry, [b]: ExtraEntry): number => compareUtf8(a, b);

/** The text that is stored; each key at most once. */
export const extraFromEntries = (entries: readonly ExtraEntry[]): string =>
  JSON.stringify(Object.fromEntries([...entries].sort(byKey)));

/** The keys in byte order, each with its value as JSON text. */
export const entriesFromExtra = (extra: string): ExtraEntry[] =>
  extra === noExtra ? [] : Object.entries<string>(JSON.parse(extra)).sort(byKey);

/** Bytes that count against the limit of M18: keys and values. */
export const extraBytes = (entries: readonly ExtraEntry[]): number =>
  entries.reduce((sum, [key, json]) => sum + byteLength(key) + byteLength(json), 0);
