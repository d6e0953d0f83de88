/** Durable writes with group commit and without it, on the disk as it is and on one that is slow to sync. */
import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { Comparison, GroupCommitAnswer, GroupCommitJob } from "../jobs.js";
import type { Options } from "../options.js";
import { say } from "../output.js";
import { runScript } from "../processes.js";
import { figure, type Section, times } from "../table.js";

const slowedMs = 2;

const slowing = [
  "strace",
  "-f",
  "--seccomp-bpf",
  "-qq",
  "-e",
  "trace=fsync,fdatasync",
  "-e",
  `inject=fsync,fdatasync:delay_exit=${slowedMs * 1_000}`,
  "-o",
  "/dev/null",
] as const;

/** Why no fsync can be slowed here; `undefined` when it can. */
function slowingFault(): string | undefined {
  const [command, ...args] = slowing;
  try {
    execFileSync(command, [...args, process.execPath, "--version"], { stdio: "ignore" });
    return undefined;
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    return isMissing
      ? "not measured: it needs strace (Debian: apt-get install strace)"
      : "not measured: strace may not trace here (run it as root, or allow ptrace)";
  }
}

const row = ({ subject, clients, alone, grouped }: Comparison): readonly string[] => [
  subject,
  String(clients),
  figure(alone.perSecond),
  figure(alone.p50Ms),
  figure(alone.p99Ms),
  figure(grouped.perSecond),
  figure(grouped.p50Ms),
  figure(grouped.p99Ms),
  figure(grouped.writesPerCommit),
  times(grouped.perSecond / alone.perSecond),
];

const head = [
  "write",
  "in flight",
  "alone a second",
  "p50 ms",
  "p99 ms",
  "grouped a second",
  "p50 ms",
  "p99 ms",
  "writes a commit",
  "gain",
];

function sectionFrom(title: string, { fsync, comparisons }: GroupCommitAnswer, rounds: number): Section {
  return {
    title,
    notes: [
      `an fsync of one more page of a file takes ${figure(fsync.p50Ms)} ms (p50; p99 ${figure(fsync.p99Ms)} ms)`,
      `the faster of ${rounds} interleaved rounds each; alone is one transaction and one fsync for each write`,
      "one row: the writer with one statement; a record: all that the record storage writes, its revision too",
    ],
    table: { head, rows: comparisons.map(row) },
  };
}

export async function measureGroupCommit(options: Options): Promise<readonly Section[]> {
  const compare = async (title: string, wrapper: readonly string[]): Promise<Section> => {
    say(title);
    const { clients, rounds, warmUpMs, measureMs, fsyncs } = options;
    const folder = mkdtempSync(join(options.folder, "group-commit-"));
    const job: GroupCommitJob = { folder, clients, rounds, warmUpMs, measureMs, fsyncs };
    return sectionFrom(title, await runScript<GroupCommitAnswer>("group-commit", job, wrapper), rounds);
  };
  const sections = [await compare("Group commit, the disk as it is", [])];
  if (options.isSlowFsync) {
    const title = `Group commit, every fsync slowed by ${slowedMs} ms`;
    const fault = slowingFault();
    sections.push(fault === undefined ? await compare(title, slowing) : { title, notes: [fault] });
  }
  return sections;
}
