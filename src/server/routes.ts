/**
 * The daemon's own paths beside the RPCs (daemon.md D4, D7, D10, D15). Each has the verbs it takes and the
 * right it needs; the verbs and the right are checked by `http.ts` before the route runs.
 *
 * | path | verbs | right | answer |
 * | --- | --- | --- | --- |
 * | /livez | GET, HEAD | none | 200, and the proof that was asked for in `memoryd-challenge` |
 * | /readyz | GET, HEAD | none | 200, or 503 with the name of the failing component |
 * | /metrics | GET, HEAD | read | Prometheus text |
 * | /status | GET, HEAD | read | JSON |
 * | /stop | POST | admin | 202; the daemon stops after answering |
 */
import { challengeHeader, instanceHeader, proofHeader } from "../config/proof.js";
import type { Right } from "../kernel/caller.js";
import type { Authenticator } from "./auth.js";
import { sendJson } from "./failure.js";
import { type HttpRequest, type HttpResponse, headerOf } from "./message.js";
import type { Metrics } from "./metrics.js";
import type { Readiness } from "./readiness.js";

export type Route = {
  readonly path: string;
  readonly verbs: readonly string[];
  /** `undefined` when everybody may come in. */
  readonly right: Right | undefined;
  readonly run: (request: HttpRequest, response: HttpResponse) => Promise<void> | void;
};

export type RouteParts = {
  readonly authenticator: Authenticator;
  readonly readiness: Readiness;
  readonly metrics: Metrics;
  readonly instance: string;
  readonly status: () => Promise<Readonly<Record<string, unknown>>>;
  readonly requestStop: () => void;
};

const reading = ["GET", "HEAD"];

export function createRoutes(parts: RouteParts): ReadonlyMap<string, Route> {
  const routes: readonly Route[] = [
    {
      path: "/livez",
      verbs: reading,
      right: undefined,
      run: (request, response) => {
        const proof = parts.authenticator.proofOf(headerOf(request, challengeHeader) ?? "");
        if (proof !== undefined) response.setHeader(proofHeader, proof);
        response.setHeader(instanceHeader, parts.instance);
        sendJson(response, 200, { status: "live" });
      },
    },
    {
      path: "/readyz",
      verbs: reading,
      right: undefined,
      run: async (_request, response) => {
        const component = await parts.readiness.failing();
        if (component === undefined) sendJson(response, 200, { status: "ready" });
        else sendJson(response, 503, { status: "unavailable", component });
      },
    },
    {
      path: "/metrics",
      verbs: reading,
      right: "read",
      run: async (_request, response) => {
        const { contentType, text } = await parts.metrics.page();
        response.setHeader("content-type", contentType);
        response.setHeader("cache-control", "no-store");
        response.end(text);
      },
    },
    {
      path: "/status",
      verbs: reading,
      right: "read",
      run: async (_request, response) => sendJson(response, 200, await parts.status()),
    },
    {
      path: "/stop",
      verbs: ["POST"],
      right: "admin",
      run: (_request, response) => {
        response.once("close", parts.requestStop);
        sendJson(response, 202, { status: "stopping" });
      },
    },
  ];
  return new Map(routes.map((route) => [route.path, route]));
}
