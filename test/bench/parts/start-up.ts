/** From the start of the process to the ready line, and the memory that the daemon then has. */
import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { startDaemon } from "../daemon.js";
import { type MemoryInUse, memoryOf } from "../machine.js";
import type { Options } from "../options.js";
import { say } from "../output.js";
import { median } from "../statistics.js";
import { figure, mebibytes, type Section } from "../table.js";

type Start = { readonly readyMs: number; readonly memory?: MemoryInUse };

type Kind = { readonly name: string; readonly starts: Start[]; readonly start: () => Promise<Start> };

async function startOnce(folder: string): Promise<Start> {
  const daemon = await startDaemon(folder);
  try {
    return { readyMs: daemon.readyMs, memory: memoryOf(daemon.pid) };
  } finally {
    await daemon.stop();
  }
}

async function startNode(): Promise<Start> {
  const startedMs = performance.now();
  execFileSync(process.execPath, ["--eval", "0"]);
  return { readyMs: performance.now() - startedMs };
}

const count = (records: number): string => records.toLocaleString("en-US");

/** `databaseFolder` holds the large database; `loaded` is the memory of a daemon after all its load. */
export async function measureStartUp(
  options: Options,
  databaseFolder: string,
  loaded: MemoryInUse | undefined,
): Promise<Section> {
  const emptyFolder = (): string => mkdtempSync(join(options.folder, "empty-"));
  const usedFolder = emptyFolder();
  await startOnce(usedFolder);
  const kinds: readonly Kind[] = [
    { name: "node itself, doing nothing", starts: [], start: startNode },
    { name: "first start, nothing there", starts: [], start: () => startOnce(emptyFolder()) },
    { name: "empty database", starts: [], start: () => startOnce(usedFolder) },
    {
      name: `${count(options.records)} records`,
      starts: [],
      start: () => startOnce(databaseFolder),
    },
  ];
  for (let round = 1; round <= options.startsEach; round += 1) {
    say(`start-up, round ${round} of ${options.startsEach}`);
    for (const { starts, start } of kinds) starts.push(await start());
  }
  const rows = kinds.map(({ name, starts }) => {
    const readyMs = starts.map((start) => start.readyMs);
    const residents = starts.flatMap(({ memory }) => (memory === undefined ? [] : [memory.residentBytes]));
    const resident = residents.length > 0 ? median(residents) : undefined;
    return [name, figure(Math.min(...readyMs)), figure(median(readyMs)), mebibytes(resident), "–"];
  });
  if (loaded !== undefined)
    rows.push([
      "after all calls above",
      "–",
      "–",
      mebibytes(loaded.residentBytes),
      mebibytes(loaded.peakBytes),
    ]);
  return {
    title: "Start-up to the ready line, and memory",
    notes: [`${options.startsEach} interleaved starts each; memory is resident, just after the ready line`],
    table: { head: ["daemon", "fastest ms", "median ms", "memory", "most ever"], rows },
  };
}
