/** Chance that can be had again: a run prints its seed, and MEMORYD_TEST_SEED repeats it. */
import { randomInt } from "node:crypto";

export type Seeded = {
  readonly seed: number;
  /** An integer from 0 up to, not including, `end`. */
  readonly below: (end: number) => number;
};

/** Chance from `seed`; the constants are mulberry32's. */
export function createSeeded(seed: number): Seeded {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return { seed, below: (end) => Math.floor(next() * end) };
}

/** The seed of this run, printed so that a failure can be repeated. */
export function seedOfRun(what: string): number {
  const named = Number(process.env.MEMORYD_TEST_SEED);
  const seed = Number.isInteger(named) && named > 0 ? named : randomInt(1, 2 ** 31);
  process.stdout.write(`${what}: MEMORYD_TEST_SEED=${seed}\n`);
  return seed;
}
