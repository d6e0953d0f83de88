/** The methods of RecordService about roots and about what is wrong: messages to model values and back. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import type { IssueSchema, RecordService } from "../../gen/memoryd/records/v1/records_pb.js";
import { type Answering, messageFromRefCheck } from "./rpc-messages.js";
import type { RootService } from "./service-roots.js";
import type { VerifyService } from "./service-verify.js";
import type { Issue } from "./verify.js";

const messageFromIssue = ({ refCheck, ...issue }: Issue): MessageInitShape<typeof IssueSchema> => ({
  ...issue,
  ...(refCheck === undefined ? {} : { refIndex: refCheck.index, refCheck: messageFromRefCheck(refCheck) }),
});

export const verifyHandlers = (
  service: VerifyService,
  { answering }: Answering,
): Partial<ServiceImpl<typeof RecordService>> => ({
  verifyRecords: (request, context) =>
    answering(context, async (call) => {
      const { issues, ...verified } = await service.verifyRecords(call, request);
      return { ...verified, issues: issues.map(messageFromIssue) };
    }),
});

export const rootHandlers = (
  service: RootService,
  { answering }: Answering,
): Partial<ServiceImpl<typeof RecordService>> => ({
  attachRoot: (request, context) =>
    answering(context, async (call) => ({ rootId: await service.attachRoot(call, request) })),

  detachRoot: (request, context) =>
    answering(context, async (call) => {
      await service.detachRoot(call, request);
      return {};
    }),
});
