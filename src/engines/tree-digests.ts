/**
 * What was found in files, remembered as long as they do not change (memory.md M75): by device, inode, size
 * and times, in memory alone. A file that changed a moment ago is not remembered, because a second change
 * within the same tick of its times could not be told from the first.
 */
import type { BigIntStats } from "node:fs";
import type { Clock } from "../kernel/clock.js";

const maxEntries = 20_000;
/** The coarsest times of file systems in use. */
const settledAfterMs = 2_000;

export type Digests = {
  readonly get: (status: BigIntStats, question: string) => string | undefined;
  readonly note: (status: BigIntStats, question: string, answer: string) => void;
};

const keyOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats, question: string): string =>
  `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs} ${question}`;

export function createDigests(clock: Clock): Digests {
  const answers = new Map<string, string>();
  return {
    get(status, question) {
      const key = keyOf(status, question);
      const answer = answers.get(key);
      if (answer === undefined) return undefined;
      // The order of a map is that of insertion, so that the oldest unused one is its first.
      answers.delete(key);
      answers.set(key, answer);
      return answer;
    },
    note(status, question, answer) {
      if (clock.nowMs() - Number(status.ctimeMs) < settledAfterMs) return;
      answers.set(keyOf(status, question), answer);
      if (answers.size <= maxEntries) return;
      for (const oldest of answers.keys()) {
        answers.delete(oldest);
        break;
      }
    },
  };
}
