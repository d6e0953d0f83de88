/**
 * `/metrics` in Prometheus text (daemon.md D15). The library that counts is loaded after the daemon is ready,
 * because it costs a quarter of the time to get there (D9); what happens before is kept and counted then.
 * Labels are methods, routes and codes that exist, never a text that a client chose.
 */
import type { Counter, Histogram, Registry } from "prom-client";

export type Gauge = { readonly name: string; readonly help: string; readonly read: () => number };

export type MetricsOptions = {
  readonly gauges: readonly Gauge[];
  readonly onBatch: ((listener: (jobs: number) => void) => void) | undefined;
};

export type Metrics = {
  readonly count: (label: string, code: string, durationMs: number) => void;
  /** Loads the library now, so that the first reader does not wait for it. */
  readonly load: () => Promise<void>;
  readonly page: () => Promise<{ readonly contentType: string; readonly text: string }>;
};

type Loaded = {
  readonly registry: Registry;
  readonly requests: Counter<"method" | "code">;
  readonly durations: Histogram<"method">;
  readonly batches: Histogram;
};

const maxWaiting = 10_000;
const durationBucketsSeconds = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 60,
];
const batchBucketsJobs = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

async function loadLibrary(gauges: readonly Gauge[]): Promise<Loaded> {
  const client = await import("prom-client");
  const registry = new client.Registry();
  const registers = [registry];
  client.collectDefaultMetrics({ register: registry });
  for (const { name, help, read } of gauges) {
    new client.Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  }
  return {
    registry,
    requests: new client.Counter({
      name: "memoryd_requests_total",
      help: "Requests answered, by method or route and by how they ended",
      labelNames: ["method", "code"],
      registers,
    }),
    durations: new client.Histogram({
      name: "memoryd_request_duration_seconds",
      help: "From the request's head to the end of its answer",
      labelNames: ["method"],
      buckets: durationBucketsSeconds,
      registers,
    }),
    batches: new client.Histogram({
      name: "memoryd_commit_batch_jobs",
      help: "Writes that shared one commit",
      buckets: batchBucketsJobs,
      registers,
    }),
  };
}

export function createMetrics({ gauges, onBatch }: MetricsOptions): Metrics {
  let loaded: Loaded | undefined;
  let loading: Promise<Loaded> | undefined;
  let waiting: ((library: Loaded) => void)[] = [];
  const note = (record: (library: Loaded) => void): void => {
    if (loaded !== undefined) record(loaded);
    else if (waiting.length < maxWaiting) waiting.push(record);
  };
  const load = async (): Promise<Loaded> => {
    loading ??= loadLibrary(gauges);
    const library = await loading;
    loaded = library;
    for (const record of waiting) record(library);
    waiting = [];
    return library;
  };
  onBatch?.((jobs) => note(({ batches }) => batches.observe(jobs)));
  return {
    count: (method, code, durationMs) =>
      note(({ requests, durations }) => {
        requests.inc({ method, code });
        durations.observe({ method }, durationMs / 1_000);
      }),
    load: async () => {
      await load();
    },
    page: async () => {
      const { registry } = await load();
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}
