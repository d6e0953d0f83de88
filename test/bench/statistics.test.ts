/** The numbers of a benchmark are right before they are quoted. */
import { expect, test } from "vitest";
import { runClosedLoop } from "./closed-loop.js";
import { best, latenciesOf, median, percentile } from "./statistics.js";
import { figure, markdownFrom } from "./table.js";

const oneTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

test("a percentile is the smallest value that so many do not exceed", () => {
  expect(percentile(oneTo(100), 0.5)).toBe(50);
  expect(percentile(oneTo(100), 0.99)).toBe(99);
  expect(percentile([7], 0.01)).toBe(7);
  expect(() => percentile([], 0.5)).toThrow("nothing");
});

test("durations are compared as numbers, in whatever order they came", () => {
  expect(latenciesOf([9, 100, 80, 11, 10])).toEqual({ p50Ms: 11, p95Ms: 100, p99Ms: 100 });
  expect(median([30, 4, 200])).toBe(30);
});

test("the best round is the one with the most answers a second", () => {
  const round = (perSecond: number) => ({ perSecond, processorShare: 0, p50Ms: 1, p95Ms: 1, p99Ms: 1 });
  expect(best([round(5), round(70), round(8)]).perSecond).toBe(70);
});

test("a closed loop keeps every client at one question and counts what was answered", async () => {
  let asked = 0;
  const open = new Map<number, number>();
  let mostOpen = 0;
  const rate = await runClosedLoop({
    clients: 3,
    warmUpMs: 5,
    measureMs: 30,
    once: async (client) => {
      asked += 1;
      open.set(client, (open.get(client) ?? 0) + 1);
      mostOpen = Math.max(mostOpen, ...open.values());
      await new Promise((resolve) => setImmediate(resolve));
      open.set(client, 0);
    },
  });
  expect([...open.keys()]).toEqual([0, 1, 2]);
  expect(mostOpen).toBe(1);
  expect(rate.perSecond).toBeGreaterThan(0);
  expect(rate.perSecond * 0.03).toBeLessThan(asked);
});

test("one wrong answer ends the measurement, so that errors cannot look fast", async () => {
  let asked = 0;
  const once = async (): Promise<void> => {
    asked += 1;
    await new Promise((resolve) => setImmediate(resolve));
    if (asked === 20) throw new Error("answered with status 500");
  };
  await expect(runClosedLoop({ clients: 4, warmUpMs: 0, measureMs: 60_000, once })).rejects.toThrow("500");
});

test("figures keep the digits that count", () => {
  expect([0.00512, 0.256, 1.234, 45.67, 678.9, 12_345].map(figure)).toEqual([
    "0.0051",
    "0.26",
    "1.23",
    "45.7",
    "679",
    "12,300",
  ]);
});

test("a table is aligned markdown, numbers to the right", () => {
  expect(markdownFrom({ head: ["call", "a second"], rows: [["GetCursor", "5"]] })).toBe(
    ["| call      | a second |", "| --------- | -------: |", "| GetCursor |        5 |"].join("\n"),
  );
});
