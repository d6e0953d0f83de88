/** What the scripts of processes/ are asked and what they answer; the load generator's part is in load/job.ts. */
import type { Latencies, Rate } from "./statistics.js";

export type SeedJob = {
  readonly databaseFile: string;
  readonly backupsDir: string;
  readonly records: number;
};

export type PlatformPorts = { readonly http1: number; readonly http2: number };

export type StorageJob = { readonly folder: string; readonly warmUpMs: number; readonly measureMs: number };

export const storageWork = [
  "one record written, one fsync",
  "64 records written, one fsync",
  "100 records read",
  "10,000 records read",
  "one text read",
] as const;

export type StorageWork = (typeof storageWork)[number];

export type StorageRates = Readonly<Record<StorageWork, Rate>>;

export type GroupCommitJob = {
  readonly folder: string;
  readonly clients: readonly number[];
  readonly rounds: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
  readonly fsyncs: number;
};

export const subjects = ["one row", "a record"] as const;

export type Subject = (typeof subjects)[number];

export type Comparison = {
  readonly subject: Subject;
  readonly clients: number;
  readonly alone: Rate;
  readonly grouped: Rate & { readonly writesPerCommit: number };
};

export type GroupCommitAnswer = { readonly fsync: Latencies; readonly comparisons: readonly Comparison[] };

export type RecordsJob = {
  readonly folder: string;
  readonly rounds: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
  readonly searchSizes: readonly number[];
  readonly watchedWrites: number;
};

export const searches = ["a rare word", "a common word", "a two-word name"] as const;

export type SearchComparison = {
  readonly search: (typeof searches)[number];
  readonly records: number;
  readonly searched: Rate;
  /** The same word by `like` over all records. */
  readonly scanned: Rate;
};

/** The fastest of the rounds each. */
export type VerifyTimes = { readonly coldMs: number; readonly warmMs: number; readonly readMs: number };
export type WatchTimes = { readonly write: Latencies; readonly receipt: Latencies };
export type FilesTimes = {
  readonly exportMs: number;
  readonly listMs: number;
  readonly importMs: number;
  readonly writeMs: number;
};

export type RecordsAnswer = {
  readonly comparisons: readonly SearchComparison[];
  readonly verify: VerifyTimes;
  readonly watch: WatchTimes;
  readonly files: FilesTimes;
};
