/** A process that logs one line of each level to its stderr. Argument: the options of the log as JSON. */
import { openLog } from "../../src/server/log.js";

const log = await openLog(JSON.parse(process.argv[2] ?? "{}"));
log.debug({ step: 1 }, "a line for the curious");
log.info({ requestId: "abc" }, "a line");
log.warn({}, "a warning");
log.error({ error: new Error("a fault") }, "an error");
await log.close();
