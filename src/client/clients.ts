/** The typed clients of a daemon's services, over any transport: TCP, the socket, or the one in process. */
import { type Client, createClient, type Transport } from "@connectrpc/connect";
import { MemoryService } from "../../gen/magus/memory/v1/memory_pb.js";
import { RecordService } from "../../gen/memoryd/records/v1/records_pb.js";

export type MemorydClients = {
  readonly memory: Client<typeof MemoryService>;
  readonly records: Client<typeof RecordService>;
};

export const createMemorydClients = (transport: Transport): MemorydClients => ({
  memory: createClient(MemoryService, transport),
  records: createClient(RecordService, transport),
});
