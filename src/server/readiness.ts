/**
 * Whether the daemon can serve (daemon.md D15): asks its components, and is the one source of `/readyz` and of
 * gRPC health. Anybody may ask, so an answer is shared by all who ask within a moment, and a component that
 * does not answer in time counts as failing.
 */
import type { Log } from "../kernel/log.js";

export type Component = {
  readonly name: string;
  /** Rejects when the component cannot do its work. */
  readonly check: () => Promise<void>;
};

export type Readiness = {
  /** The name of the first failing component, in the order given; `undefined` when all work. */
  readonly failing: () => Promise<string | undefined>;
  /** From now on the answer is {@link stoppingComponent}. */
  readonly beginStopping: () => void;
  /** Calls `listener` when stopping begins; the answer takes it back. */
  readonly whenStopping: (listener: () => void) => () => void;
};

export const stoppingComponent = "daemon";

const sharedForMs = 500;
const checkTimeoutMs = 2_000;

/** Rejects when `check` does, or takes longer than {@link checkTimeoutMs}. */
function inTime(check: () => Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("no answer in time")), checkTimeoutMs);
    check()
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}

export function createReadiness(components: readonly Component[], log: Log): Readiness {
  const listeners = new Set<() => void>();
  let isStopping = false;
  let latest: { readonly atMs: number; readonly failing: Promise<string | undefined> } | undefined;

  const checkAll = async (): Promise<string | undefined> => {
    const results = await Promise.allSettled(components.map(({ check }) => inTime(check)));
    for (const [index, result] of results.entries()) {
      const name = components[index]?.name;
      if (result.status === "fulfilled") continue;
      log.warn({ component: name, error: result.reason }, "a component is not ready");
      return name;
    }
    return undefined;
  };

  return {
    failing: () => {
      if (isStopping) return Promise.resolve(stoppingComponent);
      const now = performance.now();
      if (latest === undefined || now - latest.atMs > sharedForMs)
        latest = { atMs: now, failing: checkAll() };
      return latest.failing;
    },
    beginStopping: () => {
      isStopping = true;
      for (const listener of listeners) listener();
    },
    whenStopping: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
