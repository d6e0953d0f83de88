/**
 * `magus.memory.v1.MemoryService` on the service: messages and metadata to model values and back, nothing
 * else. Response metadata: `memoryd-update-time` with the cursor, `memoryd-skipped-records` with a list.
 */
import { create, type MessageInitShape, toBinary, toJson } from "@bufbuild/protobuf";
import { TimestampSchema, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ConnectRouter, HandlerContext } from "@connectrpc/connect";
import {
  type Memory,
  MemorySchema,
  MemoryService as MemoryServiceDesc,
} from "../../gen/magus/memory/v1/memory_pb.js";
import {
  file_memoryd_records_v1_records,
  WriteConflictSchema,
} from "../../gen/memoryd/records/v1/records_pb.js";
import type { Caller } from "../kernel/caller.js";
import { isMemorydError } from "../kernel/errors.js";
import { callerKey } from "../wire/context.js";
import { connectErrorFrom, type ErrorDetail } from "../wire/errors.js";
import type { RecordInput, StoredCursor, StoredRecord } from "./model.js";
import { preconditionMetadata } from "./precondition.js";
import { type Call, type MemoryService, rootMetadata, workspaceMetadata } from "./service.js";
import type { Conflict, Stored } from "./upsert.js";

export const updateTimeMetadata = "memoryd-update-time";
export const skippedRecordsMetadata = "memoryd-skipped-records";

/** The metadata of this domain, for the CORS lists of the server. */
export const memoryRequestMetadata = [workspaceMetadata, preconditionMetadata, rootMetadata];
export const memoryResponseMetadata = [updateTimeMetadata, skippedRecordsMetadata];

/** The files of messages that only appear as error details, for reflection. */
export const memoryDetailFiles = [file_memoryd_records_v1_records];

const inputFromMessage = (memory: Memory): RecordInput => ({
  name: memory.name,
  type: memory.type,
  refs: memory.refs.map(({ kind, target }) => ({ kind, target })),
  status: memory.status,
  body: memory.body,
  references: memory.references,
});

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

/** Adds the service to the router. `inProcess` is who asks when no guard stood in front of the call. */
export function registerMemoryRoutes(router: ConnectRouter, service: MemoryService, inProcess: Caller): void {
  const callOf = ({ requestHeader, values }: HandlerContext): Call => {
    const metadata = (name: string): string | undefined => requestHeader.get(name) ?? undefined;
    return {
      caller: values.get(callerKey) ?? inProcess,
      workspace: metadata(workspaceMetadata),
      ifUpdateTime: metadata(preconditionMetadata),
      root: metadata(rootMetadata),
    };
  };
  const answering = async <T>(context: HandlerContext, answer: (call: Call) => Promise<T>): Promise<T> => {
    try {
      return await answer(callOf(context));
    } catch (error) {
      throw connectErrorFrom(error, conflictDetails(error, context.protocolName));
    }
  };
  const noteUpdateTime = (context: HandlerContext, cursor: StoredCursor): void => {
    const time = toJson(TimestampSchema, timestampFromMs(cursor.updatedMs));
    context.responseHeader.set(updateTimeMetadata, time);
  };

  router.service(MemoryServiceDesc, {
    listMemories: (request, context) =>
      answering(context, async (call) => {
        const { records, nextPageToken, skippedRecords } = await service.listMemories(call, request);
        if (skippedRecords > 0) context.responseHeader.set(skippedRecordsMetadata, String(skippedRecords));
        return { memories: records.map(messageFromRecord), nextPageToken };
      }),

    updateMemory: (request, context) =>
      answering(context, async (call) => {
        const { memory, updateMask, allowMissing } = request;
        const record = memory === undefined ? undefined : inputFromMessage(memory);
        const stored = await service.updateMemory(call, {
          record,
          maskPaths: updateMask?.paths ?? [],
          allowMissing,
        });
        return { memory: messageFromRecord(stored) };
      }),

    deleteMemory: (request, context) =>
      answering(context, async (call) => {
        await service.deleteMemory(call, request);
        return {};
      }),

    getCursor: (_request, context) =>
      answering(context, async (call) => {
        const cursor = await service.getCursor(call);
        if (cursor !== undefined) noteUpdateTime(context, cursor);
        return { content: cursor?.content ?? "" };
      }),

    updateCursor: (request, context) =>
      answering(context, async (call) => {
        const cursor = await service.updateCursor(call, request);
        noteUpdateTime(context, cursor);
        return { content: cursor.content };
      }),
  });
}
