/** The method of RecordService that searches: messages to model values and back. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import type { RecordService, SearchHitSchema } from "../../gen/memoryd/records/v1/records_pb.js";
import { type Answering, recordMessageFrom } from "./rpc-messages.js";
import type { SearchHit, SearchService } from "./service-search.js";

const messageFromHit = ({
  record,
  score,
  explanation,
}: SearchHit): MessageInitShape<typeof SearchHitSchema> => ({
  record: recordMessageFrom(record),
  score,
  ...(explanation === undefined
    ? {}
    : {
        explanation: {
          terms: explanation.terms.map(({ fields, ...term }) => ({ ...term, fields: [...fields] })),
          coverage: explanation.coverage,
          missingWords: [...explanation.missingWords],
        },
      }),
});

export const searchHandlers = (
  service: SearchService,
  { answering }: Answering,
): Partial<ServiceImpl<typeof RecordService>> => ({
  searchRecords: (request, context) =>
    answering(context, async (call) => {
      const { hits, words, ...answer } = await service.searchRecords(call, request);
      return { ...answer, hits: hits.map(messageFromHit), words: [...words] };
    }),
});
