/**
 * A stream that ends when its reader stalls (memory.md M58): once a reader has not asked for the next item for
 * so long, what the stream holds is let go, and the reader is told `unavailable` when it comes back.
 */
import { MemorydError } from "../kernel/errors.js";

/** Calls back once after so many milliseconds, unless what comes back is called before. */
export type Schedule = (callback: () => void, delayMs: number) => () => void;

export const timerSchedule: Schedule = (callback, delayMs) => {
  const timer = setTimeout(callback, delayMs);
  timer.unref();
  return () => clearTimeout(timer);
};

const stalled = (limitMs: number): MemorydError =>
  new MemorydError(
    "unavailable",
    `Nothing was read for ${limitMs / 1_000} s, so the stream was ended; begin it again and read faster.`,
    { reason: "READER_STALLED" },
  );

/** The items, as long as each is asked for within `limitMs` of the one before. */
export function endingWhenStalled<Item>(
  items: AsyncIterable<Item>,
  limitMs: number,
  schedule: Schedule = timerSchedule,
): AsyncIterableIterator<Item> {
  const inner = items[Symbol.asyncIterator]();
  let isStalled = false;
  let cancel = (): void => {};
  const letGo = async (): Promise<void> => {
    await inner.return?.();
  };
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      cancel();
      if (isStalled) throw stalled(limitMs);
      const result = await inner.next();
      if (result.done === true) return result;
      cancel = schedule(() => {
        isStalled = true;
        void letGo();
      }, limitMs);
      return result;
    },
    async return() {
      cancel();
      await letGo();
      return { done: true, value: undefined };
    },
  };
}
