/** Streams whose reader stalls, with time in the test's hand. */
import { describe, expect, test } from "vitest";
import { endingWhenStalled, type Schedule } from "../../src/memory/stall.js";

/** Time that passes when it is told to. */
function createTime() {
  let nowMs = 0;
  const timers = new Set<{ readonly atMs: number; readonly callback: () => void }>();
  const schedule: Schedule = (callback, delayMs) => {
    const timer = { atMs: nowMs + delayMs, callback };
    timers.add(timer);
    return () => timers.delete(timer);
  };
  const pass = (ms: number): void => {
    nowMs += ms;
    for (const timer of [...timers]) {
      if (timer.atMs > nowMs) continue;
      timers.delete(timer);
      timer.callback();
    }
  };
  return { schedule, pass, waiting: () => timers.size };
}

/** Numbers from 1 without an end, and whether they were let go. */
function createNumbers() {
  let isLetGo = false;
  const numbers = (async function* () {
    try {
      for (let number = 1; ; number += 1) yield number;
    } finally {
      isLetGo = true;
    }
  })();
  return { numbers, isLetGo: () => isLetGo };
}

const letOthersRun = () => new Promise((resolve) => setImmediate(resolve));

describe("a stream that ends when its reader stalls", () => {
  test("goes on for a reader that is slow but reads", async () => {
    const { schedule, pass } = createTime();
    const { numbers } = createNumbers();
    const stream = endingWhenStalled(numbers, 30_000, schedule);
    for (const value of [1, 2, 3, 4]) {
      expect(await stream.next()).toEqual({ done: false, value });
      pass(29_999);
    }
  });

  test("lets go of what it holds after the time, and tells the reader when it comes back", async () => {
    const { schedule, pass } = createTime();
    const { numbers, isLetGo } = createNumbers();
    const stream = endingWhenStalled(numbers, 30_000, schedule);
    await stream.next();
    pass(30_000);
    await letOthersRun();
    expect(isLetGo()).toBe(true);
    await expect(stream.next()).rejects.toMatchObject({ code: "unavailable", reason: "READER_STALLED" });
  });

  test("does not count the time that it takes itself", async () => {
    const { schedule, pass, waiting } = createTime();
    const slow = (async function* () {
      pass(60_000);
      yield 1;
      pass(60_000);
      yield 2;
    })();
    const values: number[] = [];
    for await (const value of endingWhenStalled(slow, 30_000, schedule)) values.push(value);
    expect([values, waiting()]).toEqual([[1, 2], 0]);
  });

  test("lets go at once when the reader leaves, and no timer stays behind", async () => {
    const { schedule, waiting } = createTime();
    const { numbers, isLetGo } = createNumbers();
    for await (const value of endingWhenStalled(numbers, 30_000, schedule)) if (value === 2) break;
    expect([isLetGo(), waiting()]).toEqual([true, 0]);
  });
});
