/**
 * How large a record is in an answer, so that a page fits a client's limit (memory.md M18, M31): exact for
 * binary, and for JSON an upper bound that needs no encoding. In JSON a byte of text becomes at most two,
 * since the characters that take more are refused in every field.
 */
import { byteLength } from "../kernel/utf8.js";
import { limits, type StoredRecord } from "./model.js";

const varintBytes = (value: number): number =>
  value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x200000 ? 3 : 4;
const timestampBytes = 2 + 1 + 10 + 1 + 5;
const jsonRecordBytes = 224;
const jsonRefBytes = 56;
const jsonNameBytes = 3;
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

/** Takes records as long as the page has room: at most `maxRecords`, at least one, within M18's page size. */
export function createPageBudget(maxRecords: number): (record: StoredRecord) => boolean {
  let [count, binary, json] = [0, pageExtraBytes, pageExtraBytes];
  return (record) => {
    binary += binaryBytes(record);
    json += jsonBytes(record);
    const isFull = count >= maxRecords || binary > limits.pageBytes || json > limits.pageJsonBytes;
    if (isFull && count > 0) return false;
    count += 1;
    return true;
  };
}
