/** From many durations to the few numbers of a table. */

export type Latencies = {
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
};

/** What one measurement of something that is done again and again comes to. */
export type Rate = Latencies & {
  readonly perSecond: number;
  /** How much of one core this process used meanwhile, 1 being all of it. */
  readonly processorShare: number;
};

/** The nearest-rank percentile of ascending numbers, which must not be empty. */
export function percentile(ascending: ArrayLike<number>, share: number): number {
  const rank = Math.max(1, Math.ceil(share * ascending.length));
  const value = ascending[rank - 1];
  if (value === undefined) throw new Error("there is no percentile of nothing");
  return value;
}

export function latenciesOf(durationsMs: readonly number[]): Latencies {
  const ascending = Float64Array.from(durationsMs).sort();
  return {
    p50Ms: percentile(ascending, 0.5),
    p95Ms: percentile(ascending, 0.95),
    p99Ms: percentile(ascending, 0.99),
  };
}

export const median = (values: readonly number[]): number =>
  percentile(
    [...values].sort((a, b) => a - b),
    0.5,
  );

/** The best of several rounds: what else ran on the machine can only have slowed the others. */
export function best<Measured extends Rate>(rounds: readonly Measured[]): Measured {
  const [first, ...others] = rounds;
  if (first === undefined) throw new Error("nothing was measured");
  return others.reduce((fastest, round) => (round.perSecond > fastest.perSecond ? round : fastest), first);
}
