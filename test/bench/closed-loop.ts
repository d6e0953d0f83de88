/**
 * So many clients, each of which asks again as soon as it was answered. The measurement begins when the
 * warm-up is over, and ends when its time is over; neither before there was an answer for each client. Slow answers
 * come in waves, all clients one after the other, and a part of a wave would tell a wrong rate.
 */
import { latenciesOf, type Rate } from "./statistics.js";

export type Loop = {
  readonly clients: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
  /** One question and its answer; rejects when the answer is wrong, which ends the measurement. */
  readonly once: (client: number) => Promise<void>;
};

const fewestAnswers = 10;

export async function runClosedLoop({ clients, warmUpMs, measureMs, once }: Loop): Promise<Rate> {
  const enough = Math.max(clients, fewestAnswers);
  const durationsMs: number[] = [];
  let warmUpAnswers = 0;
  let isWarm = false;
  let isOver = false;
  let startedMs = performance.now();
  let endedMs = startedMs;
  let processorBefore = process.cpuUsage();
  let processor = processorBefore;

  function note(durationMs: number, nowMs: number): void {
    if (isOver) return;
    if (!isWarm) {
      warmUpAnswers += 1;
      if (warmUpAnswers < enough || nowMs - startedMs < warmUpMs) return;
      isWarm = true;
      startedMs = nowMs;
      processorBefore = process.cpuUsage();
      return;
    }
    durationsMs.push(durationMs);
    if (durationsMs.length < enough || nowMs - startedMs < measureMs) return;
    isOver = true;
    endedMs = nowMs;
    processor = process.cpuUsage(processorBefore);
  }

  async function beClient(client: number): Promise<void> {
    try {
      while (!isOver) {
        const askedMs = performance.now();
        await once(client);
        const nowMs = performance.now();
        note(nowMs - askedMs, nowMs);
      }
    } finally {
      isOver = true;
    }
  }

  await Promise.all(Array.from({ length: clients }, (_, client) => beClient(client)));
  const elapsedMs = endedMs - startedMs;
  return {
    perSecond: (durationsMs.length / elapsedMs) * 1_000,
    processorShare: (processor.user + processor.system) / 1_000 / elapsedMs,
    ...latenciesOf(durationsMs),
  };
}
