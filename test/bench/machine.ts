/** What a measurement stands on: the machine, its disk, and what a process takes of it. */
import { execFileSync } from "node:child_process";
import { closeSync, fsyncSync, openSync, readFileSync, rmSync, statfsSync, writeSync } from "node:fs";
import { cpus, loadavg, platform, release, totalmem } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { type Latencies, latenciesOf } from "./statistics.js";

const pageBytes = 4_096;

/** Numbers that Linux gives file systems. */
const fileSystems: Readonly<Record<number, string>> = {
  61267: "ext4",
  16914836: "tmpfs (memory: an fsync there does nothing)",
  1481003842: "xfs",
  2435016766: "btrfs",
  2035054128: "overlayfs",
};

function sqliteVersion(): string {
  const connection = new Database(":memory:");
  try {
    return String(connection.prepare("select sqlite_version()").pluck().get());
  } finally {
    connection.close();
  }
}

/** Lines that say where the numbers come from. */
export function describeMachine(folder: string): readonly string[] {
  const [processor] = cpus();
  const gibibytes = (totalmem() / 2 ** 30).toFixed(1);
  const { type } = statfsSync(folder);
  return [
    `${cpus().length} cores (${processor?.model.trim() || "model unknown"}), ${gibibytes} GiB`,
    `${platform()} ${release()}, file system ${fileSystems[type] ?? `0x${type.toString(16)}`}`,
    `Node ${process.versions.node}, SQLite ${sqliteVersion()}`,
    `load average at the start ${loadavg()[0]?.toFixed(2)}`,
  ];
}

/** How long the disk takes to keep one more page of a file. */
export function measureFsync(folder: string, times: number): Latencies {
  const file = join(folder, "fsync-probe");
  const descriptor = openSync(file, "w", 0o600);
  const durationsMs: number[] = [];
  try {
    for (let time = 0; time < times; time += 1) {
      writeSync(descriptor, Buffer.alloc(pageBytes, time % 251));
      const startedMs = performance.now();
      fsyncSync(descriptor);
      durationsMs.push(performance.now() - startedMs);
    }
  } finally {
    closeSync(descriptor);
    rmSync(file);
  }
  return latenciesOf(durationsMs);
}

export type MemoryInUse = { readonly residentBytes: number; readonly peakBytes: number | undefined };

/** The resident memory of a process, and the most that it ever had where the system says so. */
export function memoryOf(pid: number): MemoryInUse {
  if (platform() !== "linux") {
    const kibibytes = execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" });
    return { residentBytes: Number(kibibytes) * 1_024, peakBytes: undefined };
  }
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const bytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) * 1_024;
  return { residentBytes: bytes("VmRSS"), peakBytes: bytes("VmHWM") };
}

const ticksPerSecond = 100;

/** Processor time that a process has used, in milliseconds; `undefined` where only Linux would know. */
export function processorMsOf(pid: number): number | undefined {
  if (platform() !== "linux") return undefined;
  // The second field is the program's name in parentheses, which may hold anything.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").pop()?.split(" ") ?? [];
  return ((Number(fields[11]) + Number(fields[12])) * 1_000) / ticksPerSecond;
}
