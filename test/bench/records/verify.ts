/** VerifyRecords of a thousand refs to files, the first time in a process and when they are remembered. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { RecordsJob, VerifyTimes } from "../jobs.js";
import { say } from "../output.js";
import { recordName } from "../workload.js";
import { assertEqual, callOf, openRecords, timed } from "./opened.js";

const records = 100;
const refsEach = 10;
const fileBytes = 4_096;
/** A file that changed within the last two seconds is read anew each time. */
const settledAfterMs = 2_500;
const call = callOf("verified");

const pathOf = (file: number): string => `src/part-${file % 20}/file-${file}.ts`;

function writeFiles(folder: string): readonly string[] {
  for (let part = 0; part < 20; part += 1) mkdirSync(join(folder, `src/part-${part}`), { recursive: true });
  return Array.from({ length: records * refsEach }, (_, file) => {
    const path = join(folder, pathOf(file));
    writeFileSync(path, `${file}\n`.padEnd(fileBytes, "export const value = 1;\n"));
    return path;
  });
}

export async function measureVerify({ folder, rounds }: RecordsJob): Promise<VerifyTimes> {
  say("verify of 1,000 refs");
  const tree = join(folder, "tree");
  const paths = writeFiles(tree);
  const opened = await openRecords(join(folder, "verify.db"));
  await opened.roots.attachRoot(call, { path: tree });
  for (let index = 0; index < records; index += 1) {
    const refs = Array.from({ length: refsEach }, (_, at) => ({
      kind: 5,
      target: pathOf(index * refsEach + at),
    }));
    const record = {
      name: recordName(index),
      type: 2,
      refs,
      status: "",
      body: `Plan ${index}.`,
      references: [],
    };
    await opened.memory.updateMemory(call, { record, maskPaths: [], allowMissing: true });
  }
  await setTimeout(settledAfterMs);

  const verifyAll = async ({ verify }: ReturnType<typeof opened.openTree>): Promise<void> => {
    const asked = { names: [], checkRefs: true, minSeverity: 2, pageSize: 1_000 };
    let refsChecked = 0;
    let pageToken = "";
    do {
      const page = await verify.verifyRecords(call, { ...asked, pageToken });
      assertEqual("issues of a sound tree", page.issues.length, 0);
      refsChecked += page.refsChecked;
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    assertEqual("refs that were looked up", refsChecked, records * refsEach);
  };
  const readAll = async (): Promise<void> => {
    for (const path of paths) createHash("sha256").update(readFileSync(path)).digest();
  };

  const [cold, warm, read]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < rounds; round += 1) {
    const fresh = opened.openTree();
    read.push((await timed(readAll)).ms);
    cold.push((await timed(() => verifyAll(fresh))).ms);
    warm.push((await timed(() => verifyAll(fresh))).ms);
  }
  await opened.close();
  return { coldMs: Math.min(...cold), warmMs: Math.min(...warm), readMs: Math.min(...read) };
}
