/** The method of RecordService that watches: model values to messages of a stream. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type HandlerContext, type ServiceImpl } from "@connectrpc/connect";
import type {
  ChangeSchema,
  RecordService,
  WatchRecordsResponseSchema,
} from "../../gen/memoryd/records/v1/records_pb.js";
import { type Answering, recordMessageFrom } from "./rpc-messages.js";
import type { WatchMessage, WatchService } from "./service-watch.js";

type WatchedChange = Extract<WatchMessage, { kind: "change" }>["change"];

const messageFromChange = (change: WatchedChange): MessageInitShape<typeof ChangeSchema> => ({
  kind: change.kind,
  name: change.name ?? "",
  cursor: change.name === undefined,
  revision: BigInt(change.revision),
  time: timestampFromMs(change.atMs),
  writer: change.writer,
  ...(change.record === undefined ? {} : { record: recordMessageFrom(change.record) }),
});

const messageFromWatch = (message: WatchMessage): MessageInitShape<typeof WatchRecordsResponseSchema> => ({
  position: message.position,
  event:
    message.kind === "change"
      ? { case: "change", value: messageFromChange(message.change) }
      : { case: message.kind, value: {} },
});

async function* messagesFrom(watch: AsyncIterable<WatchMessage>, { signal }: HandlerContext) {
  try {
    for await (const message of watch) yield messageFromWatch(message);
  } catch (error) {
    // A caller who left, or a deadline, is no fault of ours, whatever it was aborted with.
    throw signal.aborted && error === signal.reason ? ConnectError.from(error, Code.Canceled) : error;
  }
}

export const watchHandlers = (service: WatchService, { streaming }: Answering) =>
  ({
    watchRecords: (request, context) =>
      streaming(context, (call) =>
        messagesFrom(service.watchRecords(call, request, context.signal), context),
      ),
  }) satisfies Partial<ServiceImpl<typeof RecordService>>;
