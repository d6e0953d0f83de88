/** Records and call options as tests of the memory domain write them. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { CallOptions } from "@connectrpc/connect";
import { expect } from "vitest";
import {
  type Memory,
  MemoryRefKind,
  type MemorySchema,
  MemoryType,
} from "../../gen/magus/memory/v1/memory_pb.js";
import { limits, type RecordFields, recordTypes, refKinds } from "../../src/memory/model.js";

export type MemoryInit = Exclude<MessageInitShape<typeof MemorySchema>, Memory>;

/** A decision with one ref. */
export const decision = (name: string, changes: MemoryInit = {}): MemoryInit => ({
  name,
  type: MemoryType.DECISION,
  refs: [{ kind: MemoryRefKind.NODE, target: "file:src/cache.ts" }],
  ...changes,
});

/** The same as the model has it. */
export const decisionFields = (changes: Partial<RecordFields> = {}): RecordFields => ({
  type: recordTypes.decision,
  refs: [{ kind: refKinds.node, target: "file:src/cache.ts" }],
  status: "",
  body: "",
  references: [],
  ...changes,
});

/** A name of the most characters that starts with the given word. */
export const longName = (start: string): string => `${start}-`.padEnd(limits.nameCharacters, "x");

/** A legal record with every field as large as it may be. */
export const largestFields: RecordFields = decisionFields({
  refs: Array.from({ length: limits.refs }, () => ({
    kind: refKinds.doc,
    target: '"'.repeat(limits.targetBytes),
  })),
  status: "s".repeat(limits.statusBytes),
  body: `b${"\n".repeat(limits.bodyBytes - 2)}b`,
  references: Array.from({ length: limits.references }, () => longName("reference")),
});

export type CallFacts = { readonly workspace?: string; readonly ifUpdateTime?: string };

/** The metadata of a call. */
export const calling = ({ workspace, ifUpdateTime }: CallFacts): CallOptions => ({
  headers: {
    ...(workspace === undefined ? {} : { "memoryd-workspace": workspace }),
    ...(ifUpdateTime === undefined ? {} : { "memoryd-if-update-time": ifUpdateTime }),
  },
});

const messageOf = (memory: Memory | undefined): Memory => memory ?? expect.fail("the answer holds no record");

export const updatedMs = (memory: Memory | undefined): number =>
  timestampMs(messageOf(memory).updateTime ?? expect.fail("the record has no update time"));
export const createdMs = (memory: Memory | undefined): number =>
  timestampMs(messageOf(memory).createTime ?? expect.fail("the record has no create time"));

/** The update time as a precondition takes it. */
export const timeOf = (memory: Memory | undefined): string => new Date(updatedMs(memory)).toISOString();

/** Numbers from 1. */
export const oneTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);
