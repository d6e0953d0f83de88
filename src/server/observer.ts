/**
 * What is noted of every request once it is over: a count and a duration, a line in the log (daemon.md D15,
 * D16), and when the daemon was last used (D8). Probes are no use: they would keep an idle daemon alive.
 */
import type { Log } from "../kernel/log.js";
import { type Exchange, unknownLabel } from "./exchange.js";
import { protocolFrom } from "./failure.js";
import { type HttpRequest, type HttpResponse, headerOf, isHttp2, onceAnswered } from "./message.js";

export type Observer = {
  readonly observe: (exchange: Exchange, request: HttpRequest, response: HttpResponse) => void;
  readonly lastUsedMs: () => number;
  readonly openRequests: () => number;
};

export type ObserverOptions = {
  readonly log: Log;
  readonly count: (label: string, code: string, durationMs: number) => void;
};

const firstServerFault = 500;

export function createObserver({ log, count }: ObserverOptions): Observer {
  let lastUsedMs = performance.now();
  const open = new Set<Exchange>();
  /** A call of somebody who was let in, to something that exists and is no route of the daemon itself. */
  const isUse = ({ caller, label }: Exchange): boolean =>
    caller !== undefined && label !== unknownLabel && !label.startsWith("/");

  return {
    lastUsedMs: () => (openUses(open, isUse) > 0 ? performance.now() : lastUsedMs),
    openRequests: () => openUses(open, isUse),
    observe: (exchange, request, response) => {
      open.add(exchange);
      let isAnswered = false;
      onceAnswered(request, response, () => {
        // A stream that the client resets is finished too.
        isAnswered = response.headersSent && !(isHttp2(request) && request.stream.rstCode !== 0);
      });
      response.once("close", () => {
        open.delete(exchange);
        const now = performance.now();
        const durationMs = now - exchange.startedMs;
        if (isUse(exchange)) lastUsedMs = now;
        const status = response.statusCode;
        const code = isAnswered ? exchange.outcome.code || (status < 400 ? "ok" : "unknown") : "canceled";
        exchange.span?.end(code);
        count(exchange.label, code, durationMs);
        const level = status >= firstServerFault ? "info" : "debug";
        log[level](
          {
            requestId: exchange.requestId,
            door: exchange.door,
            verb: request.method,
            httpVersion: request.httpVersion,
            protocol: protocolFrom(headerOf(request, "content-type")),
            method: exchange.label,
            ...(exchange.caller === undefined ? {} : { user: exchange.caller.user }),
            status,
            code,
            durationMs: Math.round(durationMs * 10) / 10,
          },
          "request",
        );
      });
    },
  };
}

function openUses(open: ReadonlySet<Exchange>, isUse: (exchange: Exchange) => boolean): number {
  let uses = 0;
  for (const exchange of open) if (isUse(exchange)) uses += 1;
  return uses;
}
