/** What `npm run bench -- …` takes, and what a run is made of; unknown arguments are refused with the usage. */
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { parseArgs } from "node:util";

/** What can be asked for by `--only`; the rest is left out. */
export const parts = ["platform", "storage", "daemon", "group-commit", "records", "start-up"] as const;

export type Part = (typeof parts)[number];

export type Options = {
  readonly parts: readonly Part[];
  readonly measureMs: number;
  readonly warmUpMs: number;
  readonly rounds: number;
  readonly clients: readonly number[];
  /** Records of the large database. */
  readonly records: number;
  readonly startsEach: number;
  readonly fsyncs: number;
  /** Records of each database that is searched. */
  readonly searchSizes: readonly number[];
  readonly watchedWrites: number;
  readonly isSlowFsync: boolean;
  readonly isWrite: boolean;
  /** The folder whose disk is measured. */
  readonly folder: string;
};

export const usage = `npm run bench -- [options]
  --quick           few, short measurements on a small database: to see that it works, not to quote
  --only NAME       only this part, one of ${parts.join(", ")}; may be given again
  --seconds N       length of one measurement (1)
  --slow-fsync      also compares group commit with every fsync slowed to 2 ms (Linux, needs strace)
  --dir FOLDER      the folder whose disk is used (${tmpdir()})
  --write           puts the tables into docs/performance.md; needs a whole run`;

export class UsageError extends Error {}

const isPart = (name: string): name is Part => (parts as readonly string[]).includes(name);

function partsFrom(names: readonly string[]): readonly Part[] {
  const unknown = names.find((name) => !isPart(name));
  if (unknown !== undefined) throw new UsageError(`--only knows no part ${unknown}.`);
  return names.length === 0 ? parts : parts.filter((part) => names.includes(part));
}

function measureMsFrom(seconds: string | undefined, isQuick: boolean): number {
  if (seconds === undefined) return isQuick ? 300 : 1_000;
  const measureMs = Number(seconds) * 1_000;
  if (!(measureMs > 0)) throw new UsageError("--seconds takes a number above 0.");
  return measureMs;
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        quick: { type: "boolean", default: false },
        only: { type: "string", multiple: true, default: [] },
        seconds: { type: "string" },
        "slow-fsync": { type: "boolean", default: false },
        dir: { type: "string", default: tmpdir() },
        write: { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

export function optionsFrom(args: readonly string[]): Options {
  const values = parsed(args);
  const { quick: isQuick, only, write: isWrite } = values;
  if (isWrite && (isQuick || only.length > 0))
    throw new UsageError("--write needs a whole run: leave --quick and --only out.");
  const measureMs = measureMsFrom(values.seconds, isQuick);
  return {
    parts: partsFrom(only),
    measureMs,
    warmUpMs: measureMs / 3,
    rounds: isQuick ? 1 : 5,
    clients: [1, 16, 64],
    records: isQuick ? 10_000 : 100_000,
    startsEach: isQuick ? 2 : 9,
    fsyncs: isQuick ? 100 : 1_000,
    searchSizes: isQuick ? [100, 1_000] : [100, 1_000, 10_000],
    watchedWrites: isQuick ? 100 : 1_000,
    isSlowFsync: values["slow-fsync"],
    isWrite,
    folder: resolve(values.dir),
  };
}
