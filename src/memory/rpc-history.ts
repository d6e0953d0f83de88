/** The methods of RecordService on single records, history and workspaces: messages to model values and back. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type {
  CursorSchema,
  RecordRevisionSchema,
  RecordService,
} from "../../gen/memoryd/records/v1/records_pb.js";
import type { CursorRevision, RecordRevision } from "./revision.js";
import { type Answering, messageFromRecord, recordMessageFrom } from "./rpc-messages.js";
import type { HistoryService } from "./service-history.js";

const messageFromRevision = (revision: RecordRevision): MessageInitShape<typeof RecordRevisionSchema> => ({
  revision: BigInt(revision.revision),
  kind: revision.kind,
  time: timestampFromMs(revision.atMs),
  writer: revision.writer,
  ...(revision.record === undefined ? {} : { memory: messageFromRecord(revision.record) }),
  redacted: revision.isRedacted,
});

const messageFromCursor = (cursor: CursorRevision): MessageInitShape<typeof CursorSchema> => ({
  content: cursor.content,
  updateTime: timestampFromMs(cursor.updatedMs),
  revision: BigInt(cursor.revision),
  writer: cursor.writer,
  redacted: cursor.isRedacted,
});

export const historyHandlers = (service: HistoryService, { answering }: Answering) =>
  ({
    getRecord: (request, context) =>
      answering(context, async (call) => ({
        record: recordMessageFrom(await service.getRecord(call, request)),
      })),

    batchGetRecords: (request, context) =>
      answering(context, async (call) => {
        const batch = await service.batchGetRecords(call, request);
        return {
          records: batch.records.map(recordMessageFrom),
          missing: [...batch.missing],
          leftOut: [...batch.leftOut],
          unreadable: [...batch.unreadable],
        };
      }),

    listRecordRevisions: (request, context) =>
      answering(context, async (call) => {
        const { revisions, nextPageToken } = await service.listRecordRevisions(call, request);
        return { revisions: revisions.map(messageFromRevision), nextPageToken };
      }),

    listCursorRevisions: (request, context) =>
      answering(context, async (call) => {
        const { revisions, nextPageToken } = await service.listCursorRevisions(call, request);
        return { cursors: revisions.map(messageFromCursor), nextPageToken };
      }),

    restoreRecord: ({ name, revision }, context) =>
      answering(context, async (call) => ({
        record: recordMessageFrom(await service.restoreRecord(call, { name, revision: Number(revision) })),
      })),

    redactRecordRevisions: (request, context) =>
      answering(context, async (call) => ({
        redactedCount: await service.redactRecordRevisions(call, request),
      })),

    listWorkspaces: (request, context) =>
      answering(context, async (call) => {
        const { workspaces, nextPageToken, defaultWorkspace } = await service.listWorkspaces(call, request);
        return {
          workspaces: workspaces.map(({ workspace, recordCount, updatedMs, rootIds }) => ({
            workspace,
            recordCount,
            rootIds: [...rootIds],
            ...(updatedMs === undefined ? {} : { updateTime: timestampFromMs(updatedMs) }),
          })),
          nextPageToken,
          defaultWorkspace,
        };
      }),
  }) satisfies Partial<ServiceImpl<typeof RecordService>>;
