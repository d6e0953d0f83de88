/** Sizes of records in answers (memory.md M18, M31): never below what is really sent, and not far above. */
import { create, toBinary, toJson } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ListMemoriesResponseSchema, MemorySchema } from "../../gen/magus/memory/v1/memory_pb.js";
import { limits, type StoredRecord } from "../../src/memory/model.js";
import { messageFromRecord } from "../../src/memory/rpc-messages.js";
import { binaryBytes, createPageBudget, jsonBytes } from "../../src/memory/size.js";
import { largeRecord, storedRecord } from "./arbitrary.js";

const pageOf = (records: readonly StoredRecord[], nextPageToken = "") =>
  create(ListMemoriesResponseSchema, { memories: records.map(messageFromRecord), nextPageToken });
const binaryOf = (record: StoredRecord): number =>
  toBinary(ListMemoriesResponseSchema, pageOf([record])).length;
/** With the comma that stands before the next one. */
const jsonOf = (record: StoredRecord): number =>
  Buffer.byteLength(JSON.stringify(toJson(MemorySchema, messageFromRecord(record)))) + 1;

const anyRecord = fc.oneof(storedRecord, largeRecord);

describe("the size of a record", () => {
  test("in binary is what is sent, or a few bytes more for its times", () => {
    fc.assert(
      fc.property(anyRecord, (record) => {
        const sent = binaryOf(record);
        expect(binaryBytes(record)).toBeGreaterThanOrEqual(sent);
        expect(binaryBytes(record)).toBeLessThanOrEqual(sent + 32);
      }),
    );
  });

  test("in JSON is never below what is sent", () => {
    fc.assert(
      fc.property(anyRecord, (record) => {
        expect(jsonBytes(record)).toBeGreaterThanOrEqual(jsonOf(record));
      }),
    );
  });
});

describe("a page", () => {
  /** As long as it has room, as a list fills it. */
  const taken = (records: readonly StoredRecord[], most: number): StoredRecord[] => {
    const hasRoom = createPageBudget(most);
    const end = records.findIndex((record) => !hasRoom(record));
    return records.slice(0, end < 0 ? records.length : end);
  };

  test("stays within the limits of an answer in binary and in JSON, with the longest token", () => {
    const many = fc.tuple(
      fc.array(largeRecord, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 400 }),
    );
    fc.assert(
      fc.property(many, ([some, count]) => {
        const records = Array.from(
          { length: count },
          (_, index) => some[index % some.length] as StoredRecord,
        );
        const page = pageOf(taken(records, Number.POSITIVE_INFINITY), "t".repeat(1_024));
        expect(toBinary(ListMemoriesResponseSchema, page).length).toBeLessThanOrEqual(limits.pageBytes);
        const json = JSON.stringify(toJson(ListMemoriesResponseSchema, page));
        expect(Buffer.byteLength(json)).toBeLessThanOrEqual(limits.pageJsonBytes);
      }),
      { numRuns: 40 },
    );
  });

  test("has at least one record and at most so many as were asked for", () => {
    fc.assert(
      fc.property(
        fc.array(largeRecord, { minLength: 1, maxLength: 20 }),
        fc.integer({ min: 1, max: 30 }),
        (some, most) => {
          const { length } = taken(some, most);
          expect(length).toBeGreaterThanOrEqual(1);
          expect(length).toBeLessThanOrEqual(most);
        },
      ),
    );
  });

  test("of small records has all that were asked for", () => {
    fc.assert(
      fc.property(
        fc.array(storedRecord, { maxLength: 100 }),
        fc.integer({ min: 1, max: 120 }),
        (some, most) => {
          expect(taken(some, most)).toHaveLength(Math.min(some.length, most));
        },
      ),
    );
  });

  test("takes no further record once it is full, be that one small", () => {
    const full = fc.sample(storedRecord, 3) as [StoredRecord, StoredRecord, StoredRecord];
    const hasRoom = createPageBudget(1);
    expect(full.map(hasRoom)).toEqual([true, false, false]);
  });
});
