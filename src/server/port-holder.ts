/**
 * Who holds a TCP port, so that "port taken" can name whom to move (daemon.md D3). Only Linux tells, and only
 * about processes of the same user; everywhere else nobody is named. Reads /proc and nothing else.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

const listening = "0A";
const localAddressColumn = 1;
const stateColumn = 3;
const inodeColumn = 9;

/** What `read` gives, or nothing: processes come and go, and most are not ours to look at. */
function orNone<T>(read: () => readonly T[]): readonly T[] {
  try {
    return read();
  } catch {
    return [];
  }
}

const linesOf = (file: string): readonly string[] => orNone(() => readFileSync(file, "utf8").split("\n"));

function inodesListeningOn(port: number): ReadonlySet<string> {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const inodes = new Set<string>();
  for (const line of [...linesOf("/proc/net/tcp"), ...linesOf("/proc/net/tcp6")]) {
    const columns = line.trim().split(/\s+/);
    const inode = columns[inodeColumn];
    if (columns[stateColumn] !== listening || inode === undefined) continue;
    if (columns[localAddressColumn]?.endsWith(suffix) === true) inodes.add(`socket:[${inode}]`);
  }
  return inodes;
}

/** `name (process 123)` of a process that listens on `port`; `undefined` when it cannot be told. */
export function portHolder(port: number): string | undefined {
  const inodes = inodesListeningOn(port);
  if (inodes.size === 0) return undefined;
  for (const id of orNone(() => readdirSync("/proc")).filter((name) => /^\d+$/.test(name))) {
    const holds = orNone(() => readdirSync(`/proc/${id}/fd`)).some((descriptor) =>
      orNone(() => [readlinkSync(`/proc/${id}/fd/${descriptor}`)]).some((target) => inodes.has(target)),
    );
    if (!holds) continue;
    const name = linesOf(`/proc/${id}/comm`)[0] ?? "a program";
    return `${name} (process ${id})`;
  }
  return undefined;
}
