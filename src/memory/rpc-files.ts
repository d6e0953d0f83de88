/** The methods of RecordService on files: messages to model values and back. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import type { ExportRecordsResponseSchema, RecordService } from "../../gen/memoryd/records/v1/records_pb.js";
import type { Answering } from "./rpc-messages.js";
import type { ExportPart, FilesService } from "./service-files.js";

const messageFromPart = (part: ExportPart): MessageInitShape<typeof ExportRecordsResponseSchema> => {
  if (part.kind === "file") {
    const { path, content } = part.file;
    return { part: { case: "file", value: { path, content } } };
  }
  const { recordCount, digest, position, unreadable } = part.summary;
  return { part: { case: "summary", value: { recordCount, digest, position, unreadable: [...unreadable] } } };
};

async function* messagesFrom(parts: AsyncIterable<ExportPart>) {
  for await (const part of parts) yield messageFromPart(part);
}

export const fileHandlers = (service: FilesService, { answering, streaming }: Answering) =>
  ({
    exportRecords: (request, context) =>
      streaming(context, (call) => messagesFrom(service.exportRecords(call, request))),

    importRecords: ({ files, mode, dryRun }, context) =>
      answering(context, async (call) => {
        const request = { files, mode, isDryRun: dryRun };
        const results = await service.importRecords(call, request, context.signal);
        return { results: [...results] };
      }),
  }) satisfies Partial<ServiceImpl<typeof RecordService>>;
