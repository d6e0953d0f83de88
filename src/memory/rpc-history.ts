/** The methods of RecordService that read single records and history: messages to model values and back. */
import type { ServiceImpl } from "@connectrpc/connect";
import type { RecordService } from "../../gen/memoryd/records/v1/records_pb.js";
import { type Answering, recordMessageFrom } from "./rpc-messages.js";
import type { HistoryService } from "./service-history.js";

export const historyHandlers = (
  service: HistoryService,
  { answering }: Answering,
): Partial<ServiceImpl<typeof RecordService>> => ({
  getRecord: (request, context) =>
    answering(context, async (call) => ({
      record: recordMessageFrom(await service.getRecord(call, request)),
    })),
});
