/**
 * `magus.memory.v1.MemoryService` on the service: messages and metadata to model values and back, nothing
 * else. Response metadata: `memoryd-update-time` with the cursor, `memoryd-skipped-records` with a list.
 */
import { toJson } from "@bufbuild/protobuf";
import { TimestampSchema, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ConnectRouter, HandlerContext } from "@connectrpc/connect";
import { type Memory, MemoryService as MemoryServiceDesc } from "../../gen/magus/memory/v1/memory_pb.js";
import type { Caller } from "../kernel/caller.js";
import type { RecordInput, StoredCursor } from "./model.js";
import { preconditionMetadata } from "./precondition.js";
import { createAnswering, messageFromRecord } from "./rpc-messages.js";
import type { MemoryService } from "./service.js";
import { rootMetadata, workspaceMetadata } from "./service-call.js";

export const updateTimeMetadata = "memoryd-update-time";
export const skippedRecordsMetadata = "memoryd-skipped-records";

/** The metadata of this domain, for the CORS lists of the server. */
export const memoryRequestMetadata = [workspaceMetadata, preconditionMetadata, rootMetadata];
export const memoryResponseMetadata = [updateTimeMetadata, skippedRecordsMetadata];

const inputFromMessage = (memory: Memory): RecordInput => ({
  name: memory.name,
  type: memory.type,
  refs: memory.refs.map(({ kind, target }) => ({ kind, target })),
  status: memory.status,
  body: memory.body,
  references: memory.references,
});

/** Adds the service to the router. `inProcess` is who asks when no guard stood in front of the call. */
export function registerMemoryRoutes(router: ConnectRouter, service: MemoryService, inProcess: Caller): void {
  const { answering } = createAnswering(inProcess);
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
