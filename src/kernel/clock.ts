/** The one home of wall-clock time. Everything else is handed a {@link Clock}, so that tests can set it. */

export type Clock = {
  /** Milliseconds since 1970-01-01T00:00:00Z; may step back when the machine's clock is set. */
  readonly nowMs: () => number;
};

export const systemClock: Clock = { nowMs: () => Date.now() };
