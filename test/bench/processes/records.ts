/** What the calls on records cost: in process, without a wire, on database files of their own. */
import type { RecordsAnswer, RecordsJob } from "../jobs.js";
import { answerJob } from "../processes.js";
import { measureFiles } from "../records/files.js";
import { compareSearches } from "../records/search.js";
import { measureVerify } from "../records/verify.js";
import { measureWatch } from "../records/watch.js";

await answerJob(
  async (job: RecordsJob): Promise<RecordsAnswer> => ({
    comparisons: await compareSearches(job),
    verify: await measureVerify(job),
    watch: await measureWatch(job),
    files: await measureFiles(job),
  }),
);
