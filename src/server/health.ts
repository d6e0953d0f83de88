/**
 * `grpc.health.v1.Health` (daemon.md D13): Check, List and Watch for the daemon as a whole (the empty name)
 * and for each service. Services share their components, so they are well or ill together. Needs no token.
 */
import { Code, type ConnectRouter, type HandlerContext } from "@connectrpc/connect";
import { Health, HealthCheckResponse_ServingStatus as ServingStatus } from "../../gen/health/v1/health_pb.js";
import { refusal } from "./failure.js";
import type { Readiness } from "./readiness.js";

const watchEveryMs = 2_000;

/** Resolves after `ms`, when the daemon begins to stop, or when the watcher is gone. */
function pause(ms: number, readiness: Readiness, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      clearTimeout(timer);
      forget();
      signal.removeEventListener("abort", settle);
      resolve();
    };
    const timer = setTimeout(settle, ms);
    const forget = readiness.whenStopping(settle);
    signal.addEventListener("abort", settle);
  });
}

/** `serviceNames` is asked at each call, since services may be registered after this one. */
export function registerHealth(
  router: ConnectRouter,
  readiness: Readiness,
  serviceNames: () => readonly string[],
): void {
  const isKnown = (service: string): boolean => service === "" || serviceNames().includes(service);
  const overall = async (): Promise<ServingStatus> =>
    (await readiness.failing()) === undefined ? ServingStatus.SERVING : ServingStatus.NOT_SERVING;

  router.service(Health, {
    async check({ service }) {
      if (isKnown(service)) return { status: await overall() };
      throw refusal(
        Code.NotFound,
        "SERVICE_UNKNOWN",
        "No service has this name; leave it empty to ask for all.",
      );
    },
    async list() {
      const status = await overall();
      return { statuses: Object.fromEntries(["", ...serviceNames()].map((name) => [name, { status }])) };
    },
    async *watch({ service }, { signal }: HandlerContext) {
      let told: ServingStatus | undefined;
      while (!signal.aborted) {
        const status = isKnown(service) ? await overall() : ServingStatus.SERVICE_UNKNOWN;
        if (status !== told) yield { status };
        told = status;
        await pause(watchEveryMs, readiness, signal);
      }
    },
  });
}
