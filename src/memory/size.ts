/**
 * How large a record is in an answer, so that a page fits a client's limit (memory.md M18, M31): exact for
 * binary, and for JSON an upper bound that needs no encoding. In JSON a byte of text becomes at most two,
 * since the characters that take more are refused in every field.
 */
import { byteLength } from "../kernel/utf8.js";
import { limits, type StoredRecord, type Writer } from "./model.js";

const varintBytes = (value: number): number =>
  value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x200000 ? 3 : 4;
const timestampBytes = 2 + 1 + 10 + 1 + 5;
const jsonRecordBytes = 224;
const jsonRefBytes = 56;
const jsonNameBytes = 3;
/** Position, kind, time and the frames around them and around a writer. */
const binaryFactsBytes = 64;
const jsonFactsBytes = 256;
/** State, reason, time and frames of one ref's check. */
const binaryRefCheckBytes = 48;
const jsonRefCheckBytes = 144;
/** A control character in a writer's name, as JSON spells it. */
const jsonBytesPerByte = 6;
/** What a page holds beside its records: at most a page token and its field. */
const pageExtraBytes = 1_100;

const fieldBytes = (size: number): number => (size === 0 ? 0 : 1 + varintBytes(size) + size);

/** Bytes that the record takes as one of `ListMemoriesResponse.memories` in binary; at most a few too many. */
export function binaryBytes(record: StoredRecord): number {
  const refs = record.refs.reduce((sum, { target }) => {
    const size = 2 + fieldBytes(byteLength(target));
    return sum + 1 + varintBytes(size) + size;
  }, 0);
  const references = record.references.reduce((sum, name) => sum + fieldBytes(name.length), 0);
  const size =
    fieldBytes(record.name.length) +
    2 +
    refs +
    fieldBytes(byteLength(record.status)) +
    fieldBytes(byteLength(record.body)) +
    references +
    2 * timestampBytes;
  return 1 + varintBytes(size) + size;
}

/** Bytes that the record takes as JSON, or more. */
export function jsonBytes(record: StoredRecord): number {
  const refs = record.refs.reduce((sum, { target }) => sum + jsonRefBytes + 2 * byteLength(target), 0);
  const references = record.references.reduce((sum, name) => sum + jsonNameBytes + name.length, 0);
  const text = record.name.length + 2 * (byteLength(record.status) + byteLength(record.body));
  return jsonRecordBytes + refs + references + text;
}

/** Bytes that something takes in an answer: exactly or a few too many in binary, at most so many as JSON. */
export type Size = { readonly binary: number; readonly json: number };

export const recordSize = (record: StoredRecord): Size => ({
  binary: binaryBytes(record),
  json: jsonBytes(record),
});

/** What a message of RecordService says of a write beside what was written. */
export function factsSize({ user, agent }: Writer): Size {
  const writer = byteLength(user) + byteLength(agent);
  return { binary: binaryFactsBytes + writer, json: jsonFactsBytes + jsonBytesPerByte * writer };
}

/** What the checks of so many refs take, beside their record. */
export const refChecksSize = (count: number): Size => ({
  binary: count * binaryRefCheckBytes,
  json: count * jsonRefCheckBytes,
});

export const textSize = (text: string): Size => ({
  binary: fieldBytes(byteLength(text)),
  json: 2 * byteLength(text),
});

export const sumOf = (...sizes: readonly Size[]): Size => ({
  binary: sizes.reduce((sum, { binary }) => sum + binary, 0),
  json: sizes.reduce((sum, { json }) => sum + json, 0),
});

/**
 * Takes items as long as the answer has room: at most `maxItems`, at least one, within M18's size. `beside` is
 * what the answer holds beside its items.
 */
export function createAnswerBudget(
  maxItems: number,
  beside: Size = { binary: pageExtraBytes, json: pageExtraBytes },
): (size: Size) => boolean {
  let [count, used] = [0, beside];
  return (size) => {
    used = sumOf(used, size);
    const isFull = count >= maxItems || used.binary > limits.pageBytes || used.json > limits.pageJsonBytes;
    if (isFull && count > 0) return false;
    count += 1;
    return true;
  };
}

/** The same for a page that holds records alone. */
export function createPageBudget(maxRecords: number): (record: StoredRecord) => boolean {
  const hasRoom = createAnswerBudget(maxRecords);
  return (record) => hasRoom(recordSize(record));
}
