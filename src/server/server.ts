/**
 * The HTTP server of the daemon as one part: opens the doors, joins guards, RPCs and routes, and stops them
 * in order. It knows no domain; what is served is handed in. Process signals, the discovery file and the
 * storage's end are `lifecycle.ts`.
 */
import { Code, type ConnectError, type ConnectRouter, type Interceptor } from "@connectrpc/connect";
import type { Config } from "../config/load.js";
import type { Caller } from "../kernel/caller.js";
import type { Clock } from "../kernel/clock.js";
import type { Log } from "../kernel/log.js";
import { createAuthenticator } from "./auth.js";
import { createOpenCalls } from "./calls.js";
import { openDoors } from "./doors.js";
import { refusal } from "./failure.js";
import { createHttpHandler } from "./http.js";
import { createMetrics, type Gauge } from "./metrics.js";
import { createObserver } from "./observer.js";
import { type Component, createReadiness } from "./readiness.js";
import { createRoutes } from "./routes.js";
import { createRpc } from "./rpc.js";
import type { Tracing } from "./tracing.js";

export type ServerParts = {
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
  readonly version: string;
  /** Random; another one at the same address is another daemon. */
  readonly instance: string;
  /** Who the operator token, and the socket, act as. */
  readonly operator: Caller;
  /** Absent only with `--insecure-no-auth`. */
  readonly operatorToken: string | undefined;
  readonly registerRoutes: (router: ConnectRouter) => void;
  readonly interceptors: readonly Interceptor[];
  /** The domains' metadata that pages of other origins may read and send. */
  readonly exposedHeaders: readonly string[];
  readonly allowedHeaders: readonly string[];
  /** For /readyz and gRPC health. */
  readonly components: readonly Component[];
  /** What GET /status answers, as JSON. */
  readonly status: () => Promise<Readonly<Record<string, unknown>>>;
  readonly gauges: readonly Gauge[];
  /** Calls its listener with the number of jobs of each commit. */
  readonly onBatch?: (listener: (jobs: number) => void) => void;
  /** Given when the environment asks for traces; who made it closes it after the server has stopped. */
  readonly tracing?: Tracing | undefined;
};

export type RunningServer = {
  readonly url: string | undefined;
  readonly socket: string | undefined;
  /** When a request that counts as use last began or ended, on the clock of `performance.now`. */
  readonly lastUsedMs: () => number;
  /** Requests in progress that count as use. */
  readonly openRequests: () => number;
  /** Resolves when somebody with the right to asks for the daemon's end (POST /stop). */
  readonly stopRequested: Promise<void>;
  /**
   * Stops accepting, ends streams with `unavailable`, lets unary calls finish for `graceMs`, then ends those
   * too and closes every connection. `cut` says that something had to be ended.
   */
  readonly stop: (graceMs: number) => Promise<"clean" | "cut">;
};

/** For a Watch to say that the daemon is going before it ends. */
const farewellMs = 20;
/** For the last `unavailable` to reach clients whose time was up. */
const flushMs = 200;
/** The metrics library is loaded when the first requests are likely to be over. */
const loadMetricsAfterMs = 1_000;

const stopping = (): ConnectError =>
  refusal(Code.Unavailable, "STOPPING", "The daemon is stopping; call again when it is back.");

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Listens as the configuration says. Throws `unavailable` or `invalid_argument` with what to change. */
export async function startServer(parts: ServerParts): Promise<RunningServer> {
  const { config, log } = parts;
  const authenticator = createAuthenticator(parts);
  const readiness = createReadiness(parts.components, log);
  const calls = createOpenCalls();
  let openConnections = (): number => 0;
  const metrics = createMetrics({
    onBatch: parts.onBatch,
    gauges: [
      ...parts.gauges,
      { name: "memoryd_open_connections", help: "Connections open now", read: () => openConnections() },
      { name: "memoryd_open_requests", help: "Calls in progress", read: () => observer.openRequests() },
    ],
  });
  const observer = createObserver({ log, count: metrics.count });
  let requestStop = (): void => {};
  const stopRequested = new Promise<void>((resolve) => {
    requestStop = resolve;
  });
  const rpc = createRpc({
    registerRoutes: parts.registerRoutes,
    interceptors: parts.interceptors,
    readiness,
    calls,
  });
  const routes = createRoutes({
    authenticator,
    readiness,
    metrics,
    instance: parts.instance,
    status: parts.status,
    requestStop,
  });
  const handlerFor = createHttpHandler({
    config,
    log,
    cors: { allowedHeaders: parts.allowedHeaders, exposedHeaders: parts.exposedHeaders },
    authenticator,
    rpc,
    routes,
    tracing: parts.tracing,
    observe: observer.observe,
  });
  const doors = await openDoors(config, log, handlerFor);
  openConnections = doors.openConnections;
  const loading = setTimeout(() => {
    metrics.load().catch((error: unknown) => log.warn({ error }, "the metrics library cannot be loaded"));
  }, loadMetricsAfterMs);
  loading.unref();

  const stop = async (graceMs: number): Promise<"clean" | "cut"> => {
    clearTimeout(loading);
    readiness.beginStopping();
    const closed = doors.close(graceMs + farewellMs + flushMs);
    await pause(farewellMs);
    calls.endStreams(stopping());
    let isCut = false;
    const grace = setTimeout(() => {
      isCut = true;
      calls.endAll(stopping());
    }, graceMs);
    const how = await closed;
    clearTimeout(grace);
    return isCut ? "cut" : how;
  };
  let stopped: Promise<"clean" | "cut"> | undefined;

  return {
    url: doors.url,
    socket: doors.socket,
    lastUsedMs: observer.lastUsedMs,
    openRequests: observer.openRequests,
    stopRequested,
    stop: (graceMs) => {
      stopped ??= stop(graceMs);
      return stopped;
    },
  };
}
