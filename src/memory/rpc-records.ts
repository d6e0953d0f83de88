/**
 * `memoryd.records.v1.RecordService`: joins the handlers of its parts, a file each. A method that no part
 * answers is unimplemented.
 */
import type { ConnectRouter } from "@connectrpc/connect";
import { RecordService } from "../../gen/memoryd/records/v1/records_pb.js";
import type { Caller } from "../kernel/caller.js";
import { fileHandlers } from "./rpc-files.js";
import { historyHandlers } from "./rpc-history.js";
import { createAnswering } from "./rpc-messages.js";
import { searchHandlers } from "./rpc-search.js";
import { rootHandlers, verifyHandlers } from "./rpc-verify.js";
import { watchHandlers } from "./rpc-watch.js";
import type { FilesService } from "./service-files.js";
import type { HistoryService } from "./service-history.js";
import type { RootService } from "./service-roots.js";
import type { SearchService } from "./service-search.js";
import type { VerifyService } from "./service-verify.js";
import type { WatchService } from "./service-watch.js";

/** The use cases behind the service, a member for each part. */
export type RecordServices = {
  readonly files: FilesService;
  readonly history: HistoryService;
  readonly roots: RootService;
  readonly search: SearchService;
  readonly verify: VerifyService;
  readonly watch: WatchService;
};

/** Adds the service to the router. `inProcess` is who asks when no guard stood in front of the call. */
export function registerRecordRoutes(
  router: ConnectRouter,
  services: RecordServices,
  inProcess: Caller,
): void {
  const answering = createAnswering(inProcess);
  router.service(RecordService, {
    ...fileHandlers(services.files, answering),
    ...historyHandlers(services.history, answering),
    ...rootHandlers(services.roots, answering),
    ...searchHandlers(services.search, answering),
    ...verifyHandlers(services.verify, answering),
    ...watchHandlers(services.watch, answering),
  });
}
