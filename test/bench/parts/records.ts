/** Search, verify, watch, export and import, each beside the plainest way to the same answer. */
import { mkdtempSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import type { RecordsAnswer, RecordsJob, SearchComparison } from "../jobs.js";
import type { Options } from "../options.js";
import { say } from "../output.js";
import { runScript } from "../processes.js";
import { figure, type Section, times } from "../table.js";

const loadAverage = (): string =>
  loadavg()
    .map((load) => load.toFixed(2))
    .join(", ");

function searchSection(comparisons: readonly SearchComparison[], rounds: number): Section {
  const growthOf = ({ search, records, searched, scanned }: SearchComparison): readonly string[] => {
    const smaller = comparisons.find((other) => other.search === search && other.records * 10 === records);
    if (smaller === undefined) return ["–", "–"];
    return [times(searched.p50Ms / smaller.searched.p50Ms), times(scanned.p50Ms / smaller.scanned.p50Ms)];
  };
  return {
    title: "Records: search",
    notes: [
      "growth is the cost beside that of a tenth of the records; gain is the scan's time over the search's",
      "the scan is `like '%word%'` on body, name and targets of the same database; both answer 20 records and a total",
      `times are the p50 of the fastest of ${rounds} interleaved rounds`,
    ],
    table: {
      head: ["search for", "records", "growth", "scan's growth", "gain", "search ms", "scan ms"],
      rows: comparisons.map((comparison) => [
        comparison.search,
        comparison.records.toLocaleString("en-US"),
        ...growthOf(comparison),
        times(comparison.scanned.p50Ms / comparison.searched.p50Ms),
        figure(comparison.searched.p50Ms),
        figure(comparison.scanned.p50Ms),
      ]),
    },
  };
}

function othersSection(
  { verify, watch, files }: RecordsAnswer,
  loadBefore: string,
  job: RecordsJob,
): Section {
  const row = (what: string, beside: string, ms: number, besideMs: number): readonly string[] => [
    what,
    beside,
    times(ms / besideMs),
    figure(ms),
    figure(besideMs),
  ];
  return {
    title: "Records: verify, watch, export and import",
    notes: [
      "ratio is the time over that of what it stands beside",
      "cold is a tree that nothing is remembered of; the operating system has the files in memory all the time",
      `receipt counts from the answer of a write to the watch that receives it, over ${job.watchedWrites.toLocaleString("en-US")} writes`,
      `the fastest of ${job.rounds} rounds, but for the watch`,
      `load average before: ${loadBefore}; after: ${loadAverage()}`,
    ],
    table: {
      head: ["what", "beside", "ratio", "ms", "beside ms"],
      rows: [
        row("1,000 refs verified, cold", "reading and digesting the files", verify.coldMs, verify.readMs),
        row("1,000 refs verified, warm", "the same, cold", verify.warmMs, verify.coldMs),
        row("change received, p50", "its write, p50", watch.receipt.p50Ms, watch.write.p50Ms),
        row("change received, p99", "its write, p99", watch.receipt.p99Ms, watch.write.p99Ms),
        row("1,000 records exported", "listed", files.exportMs, files.listMs),
        row("1,000 records imported", "written, 50 in flight", files.importMs, files.writeMs),
      ],
    },
  };
}

export async function measureRecords(options: Options): Promise<readonly Section[]> {
  say("records");
  const loadBefore = loadAverage();
  const { rounds, warmUpMs, measureMs, searchSizes, watchedWrites } = options;
  const folder = mkdtempSync(join(options.folder, "records-"));
  const job: RecordsJob = { folder, rounds, warmUpMs, measureMs, searchSizes, watchedWrites };
  const answer = await runScript<RecordsAnswer>("records", job);
  return [searchSection(answer.comparisons, rounds), othersSection(answer, loadBefore, job)];
}
