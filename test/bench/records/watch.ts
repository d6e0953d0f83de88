/** How long after the answer of a write a watch in the same process receives the change. */
import { join } from "node:path";
import type { RecordsJob, WatchTimes } from "../jobs.js";
import { say } from "../output.js";
import { latenciesOf } from "../statistics.js";
import { createMarks, fieldsOf, recordName, writtenNames } from "../workload.js";
import { assertEqual, callOf, openRecords } from "./opened.js";

const call = callOf("watched");
const warmUpWrites = 20;

export async function measureWatch({ folder, watchedWrites }: RecordsJob): Promise<WatchTimes> {
  say("changes on a watch");
  const opened = await openRecords(join(folder, "watch.db"));
  const stop = new AbortController();
  const request = { position: "", includeRecords: true, includeCursor: false };
  const watch = opened.watch.watchRecords(call, request, stop.signal)[Symbol.asyncIterator]();
  assertEqual("the first message", (await watch.next()).value?.kind, "ready");
  const nextMark = createMarks();
  const [writeMs, receiptMs]: [number[], number[]] = [[], []];
  for (let write = -warmUpWrites; write < watchedWrites; write += 1) {
    const index = (write + warmUpWrites) % writtenNames;
    const name = recordName(index);
    const record = { name, ...fieldsOf(index, nextMark()) };
    const received = watch.next().then(({ value }) => ({ value, atMs: performance.now() }));
    const askedMs = performance.now();
    await opened.memory.updateMemory(call, { record, maskPaths: [], allowMissing: true });
    const answeredMs = performance.now();
    const { value, atMs } = await received;
    if (value?.kind !== "change") throw new Error(`a ${value?.kind} came instead of the change`);
    assertEqual("the changed name", value.change.name, name);
    if (write < 0) continue;
    writeMs.push(answeredMs - askedMs);
    receiptMs.push(atMs - answeredMs);
  }
  stop.abort();
  await opened.close();
  return { write: latenciesOf(writeMs), receipt: latenciesOf(receiptMs) };
}
