/**
 * What the services of this domain share on the wire: records as messages, the call that a request makes, and
 * the errors of a write that came too late. Each service's own methods are in `rpc.ts` and `rpc-records.ts`.
 */
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import { type Memory, MemorySchema } from "../../gen/magus/memory/v1/memory_pb.js";
import {
  type RecordSchema,
  type RefCheckSchema,
  WriteConflictSchema,
} from "../../gen/memoryd/records/v1/records_pb.js";
import type { Caller } from "../kernel/caller.js";
import { isMemorydError } from "../kernel/errors.js";
import { callerKey } from "../wire/context.js";
import { connectErrorFrom, type ErrorDetail } from "../wire/errors.js";
import type { StoredRecord } from "./model.js";
import { preconditionMetadata } from "./precondition.js";
import type { CheckedRecord, RefCheck } from "./refs-resolve.js";
import { type Call, rootMetadata, workspaceMetadata } from "./service-call.js";
import type { Conflict, Stored } from "./upsert.js";

/** Turns what a request came with into a call, and what the answer throws into an error of the wire. */
export type Answering = {
  readonly answering: <T>(context: HandlerContext, answer: (call: Call) => Promise<T>) => Promise<T>;
  /** The same for a method that answers a stream. */
  readonly streaming: <T>(
    context: HandlerContext,
    answer: (call: Call) => AsyncIterable<T>,
  ) => AsyncIterable<T>;
};

/** The message of a stored record; what UpdateMemory and ListMemories answer. */
export const messageFromRecord = (record: StoredRecord): Memory =>
  create(MemorySchema, {
    name: record.name,
    type: record.type,
    refs: record.refs.map(({ kind, target }) => ({ kind, target })),
    status: record.status,
    body: record.body,
    references: [...record.references],
    createTime: timestampFromMs(record.createdMs),
    updateTime: timestampFromMs(record.updatedMs),
  });

/** Over plain gRPC details travel in a trailer, and common clients drop trailers above 8 KiB (M41). */
const maxGrpcDetailBytes = 4_096;

type ConflictMessage = MessageInitShape<typeof WriteConflictSchema>;

function messageFromStored(stored: Stored): ConflictMessage {
  const { name, createdMs, updatedMs, revision, writer } = stored;
  const memory = stored.readable
    ? messageFromRecord(stored)
    : { name, createTime: timestampFromMs(createdMs), updateTime: timestampFromMs(updatedMs) };
  return { record: { memory, revision: BigInt(revision), writer } };
}

function messageFromConflict(conflict: Conflict): ConflictMessage {
  if (conflict.kind === "absent") return { absent: true };
  if (conflict.kind === "record") return messageFromStored(conflict.record);
  const { content, updatedMs, revision, writer } = conflict.cursor;
  return { cursor: { content, updateTime: timestampFromMs(updatedMs), revision: BigInt(revision), writer } };
}

/** The detail without what may be long: body, refs and cursor text, and where that is not enough, references. */
function shortConflict(conflict: Conflict, keepsReferences: boolean): ConflictMessage {
  if (conflict.kind === "cursor") {
    const cursor = { ...conflict.cursor, content: "" };
    return { ...messageFromConflict({ kind: "cursor", cursor }), truncated: true };
  }
  if (conflict.kind === "absent" || !conflict.record.readable) return messageFromConflict(conflict);
  const { record } = conflict;
  const references = keepsReferences ? record.references : [];
  return { ...messageFromStored({ ...record, refs: [], body: "", references }), truncated: true };
}

/** The `WriteConflict` of a version conflict, short where the protocol needs it; nothing for other errors. */
function conflictDetails(error: unknown, protocolName: string): ErrorDetail[] {
  if (!isMemorydError(error) || error.code !== "version_conflict") return [];
  const conflict = error.current as Conflict;
  const detail = (value: ConflictMessage): ErrorDetail => ({ desc: WriteConflictSchema, value });
  const fits = (value: ConflictMessage): boolean =>
    toBinary(WriteConflictSchema, create(WriteConflictSchema, value)).length <= maxGrpcDetailBytes;
  const whole = messageFromConflict(conflict);
  if (protocolName !== "grpc" || fits(whole)) return [detail(whole)];
  const short = shortConflict(conflict, true);
  return [detail(fits(short) ? short : shortConflict(conflict, false))];
}

export const messageFromRefCheck = ({
  index,
  state,
  reason,
  checkedMs,
}: RefCheck): MessageInitShape<typeof RefCheckSchema> => ({
  index,
  state,
  reason,
  checkTime: timestampFromMs(checkedMs),
});

/** The record with what is known of its last write; what RecordService answers. */
export const recordMessageFrom = (record: CheckedRecord): MessageInitShape<typeof RecordSchema> => ({
  memory: messageFromRecord(record),
  revision: BigInt(record.revision),
  writer: record.writer,
  ...(record.refChecks === undefined ? {} : { refChecks: record.refChecks.map(messageFromRefCheck) }),
});

/** `inProcess` is who asks when no guard stood in front of the call. */
export function createAnswering(inProcess: Caller): Answering {
  const callOf = ({ requestHeader, values }: HandlerContext): Call => {
    const metadata = (name: string): string | undefined => requestHeader.get(name) ?? undefined;
    return {
      caller: values.get(callerKey) ?? inProcess,
      workspace: metadata(workspaceMetadata),
      ifUpdateTime: metadata(preconditionMetadata),
      root: metadata(rootMetadata),
    };
  };
  const failure = (error: unknown, { protocolName }: HandlerContext) =>
    connectErrorFrom(error, conflictDetails(error, protocolName));
  return {
    answering: async (context, answer) => {
      try {
        return await answer(callOf(context));
      } catch (error) {
        throw failure(error, context);
      }
    },
    streaming: async function* (context, answer) {
      try {
        yield* answer(callOf(context));
      } catch (error) {
        throw failure(error, context);
      }
    },
  };
}
