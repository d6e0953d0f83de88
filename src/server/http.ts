/**
 * One request from the door to its answer: request id, guards in their order (Host, Origin, preflight,
 * token: daemon.md section 3), then the RPC or route that it names. Everything refused here is answered
 * in the words of the protocol that asked, and nothing thrown here ends the process (D12).
 *
 * | after the token | answer |
 * | --- | --- |
 * | a path that is neither RPC nor route | 404, and `unimplemented` in the RPC protocols |
 * | a path that takes other verbs | 405 with `Allow` |
 */
import { Code, ConnectError } from "@connectrpc/connect";
import type { Config } from "../config/load.js";
import { assertRight } from "../kernel/caller.js";
import { isMemorydError, MemorydError } from "../kernel/errors.js";
import { maxHeaderBytes } from "../kernel/limits.js";
import type { Log } from "../kernel/log.js";
import { codeName } from "../wire/connect.js";
import { connectErrorFrom } from "../wire/errors.js";
import { type Authenticator, authenticateHeader, unauthenticated } from "./auth.js";
import type { Door } from "./doors.js";
import { createExchange, type Exchange, requestIdHeader } from "./exchange.js";
import { HttpRefusal, hiddenFailure, protocolFrom, refusal, sendFailure } from "./failure.js";
import { type CorsRules, corsHeaders, createHostGuard, originOf, preflightHeaders } from "./guard.js";
import {
  bodyGone,
  type HttpHandler,
  type HttpRequest,
  type HttpResponse,
  headerBytesOf,
  headerOf,
  isHttp2,
  pathOf,
  tendExchange,
} from "./message.js";
import type { Route } from "./routes.js";
import type { Rpc } from "./rpc.js";
import type { Tracing } from "./tracing.js";

export type HttpParts = {
  readonly config: Config;
  readonly log: Log;
  readonly cors: CorsRules;
  readonly authenticator: Authenticator;
  readonly rpc: Rpc;
  readonly routes: ReadonlyMap<string, Route>;
  readonly tracing: Tracing | undefined;
  /** Told of every request when it begins and, by the answer's call, when it is over. */
  readonly observe: (exchange: Exchange, request: HttpRequest, response: HttpResponse) => void;
};

/** More wrong tokens than this wait for their slowed answer at once; the rest is told to go away. */
const maxSlowedAnswers = 256;

/** What a socket's client says in Host means nothing: the file system has already said who it is. */
const socketAuthority = "localhost";

export function createHttpHandler(parts: HttpParts): (door: Door) => HttpHandler {
  const { config, log, authenticator, rpc, routes } = parts;
  const { allowOrigin, behindProxy } = config.access;
  const passHost = createHostGuard(config.access.allowHost);
  const isTls = config.tls.cert !== undefined;
  const schemes = behindProxy ? (["http", "https"] as const) : ([isTls ? "https" : "http"] as const);
  let slowedAnswers = 0;

  const fail = async (
    request: HttpRequest,
    response: HttpResponse,
    exchange: Exchange,
    error: unknown,
  ): Promise<void> => {
    if (response.destroyed || response.writableEnded) return;
    const refused = error instanceof HttpRefusal ? error.error : error;
    const isKnown = isMemorydError(refused) || refused instanceof ConnectError;
    if (!isKnown) log.error({ requestId: exchange.requestId, error }, "a request could not be answered");
    const shown = isKnown ? connectErrorFrom(refused) : hiddenFailure();
    exchange.outcome.code ||= codeName(shown.code);
    await bodyGone(request);
    if (shown.code === Code.Unauthenticated) response.setHeader("www-authenticate", authenticateHeader);
    sendFailure(request, response, error instanceof HttpRefusal ? error : shown);
  };

  /** Where the request comes from; behind a proxy, where the proxy says that it comes from. */
  const addressOf = (request: HttpRequest): string => {
    const forwarded = behindProxy
      ? headerOf(request, "x-forwarded-for")?.split(",").at(-1)?.trim()
      : undefined;
    return forwarded ?? request.socket.remoteAddress ?? "";
  };

  /** Checks what a browser may have been talked into. Answers whether the request was a preflight, and so is done. */
  const passGuards = (request: HttpRequest, response: HttpResponse): boolean => {
    const written = isHttp2(request) ? request.headers[":authority"] : undefined;
    const own = passHost(written ?? headerOf(request, "host"));
    if (written !== undefined && request.headers.host !== undefined) passHost(request.headers.host);
    const origin = originOf(headerOf(request, "origin"), own, { allowOrigin, schemes });
    response.setHeader("vary", "Origin");
    if (origin === undefined) return false;
    for (const [name, value] of Object.entries(corsHeaders(origin, parts.cors)))
      response.setHeader(name, value);
    const isPreflight =
      request.method === "OPTIONS" && request.headers["access-control-request-method"] !== undefined;
    if (!isPreflight) return false;
    const asksForLocalNetwork = request.headers["access-control-request-private-network"] === "true";
    const headers = preflightHeaders(parts.cors, asksForLocalNetwork);
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    response.statusCode = 204;
    response.end();
    return true;
  };

  const runRoute = async (route: Route, request: HttpRequest, response: HttpResponse, exchange: Exchange) => {
    exchange.label = route.path;
    if (!route.verbs.includes(request.method ?? "")) {
      response.setHeader("allow", route.verbs.join(", "));
      const message = `This path takes ${route.verbs.join(" and ")} only.`;
      throw new HttpRefusal(refusal(Code.Unimplemented, "WRONG_VERB", message), 405, { isPlain: true });
    }
    if (route.right !== undefined && exchange.caller !== undefined) assertRight(exchange.caller, route.right);
    await route.run(request, response);
  };

  const serve = async (request: HttpRequest, response: HttpResponse, exchange: Exchange): Promise<void> => {
    if (headerBytesOf(request) > maxHeaderBytes) {
      const message = `Send at most ${maxHeaderBytes} bytes of headers.`;
      throw new HttpRefusal(refusal(Code.ResourceExhausted, "HEADERS_TOO_LARGE", message), 431);
    }
    if (exchange.door === "tcp" && passGuards(request, response)) return;
    if (exchange.door === "socket") {
      request.headers[isHttp2(request) ? ":authority" : "host"] = socketAuthority;
    }
    const path = pathOf(request);
    const method = rpc.methodAt(path);
    const route = method === undefined ? routes.get(path) : undefined;
    const isOpen = method?.isOpen ?? (route !== undefined && route.right === undefined);
    if (!isOpen) {
      const { caller, delayMs } = authenticator.authenticate({
        authorization: headerOf(request, "authorization"),
        isTrusted: exchange.door === "socket",
        address: addressOf(request),
      });
      if (caller === undefined) {
        await slowDown(delayMs);
        throw unauthenticated();
      }
      exchange.caller = caller;
    }
    if (method !== undefined) {
      exchange.label = method.label;
      exchange.span = parts.tracing?.startSpan(
        method.label,
        protocolFrom(headerOf(request, "content-type")),
        exchange.requestId,
        request,
      );
      await rpc.serve(method, request, response, exchange);
    } else if (route !== undefined) {
      await runRoute(route, request, response, exchange);
    } else {
      const message = "This daemon serves nothing at this path.";
      throw new HttpRefusal(refusal(Code.Unimplemented, "PATH_UNKNOWN", message), 404);
    }
  };

  /** Waits before the answer to one more bad token; throws when too many wait already. */
  const slowDown = async (delayMs: number): Promise<void> => {
    if (delayMs === 0) return;
    if (slowedAnswers >= maxSlowedAnswers) {
      throw new MemorydError(
        "resource_exhausted",
        "Too many wrong tokens; wait a while before the next try.",
        {
          reason: "TOO_MANY_BAD_TOKENS",
        },
      );
    }
    slowedAnswers += 1;
    await new Promise((resolve) => setTimeout(resolve, delayMs).unref());
    slowedAnswers -= 1;
  };

  return (door) => (request, response) => {
    tendExchange(request, response);
    const exchange = createExchange(door, headerOf(request, requestIdHeader));
    response.setHeader(requestIdHeader, exchange.requestId);
    response.setHeader("x-content-type-options", "nosniff");
    parts.observe(exchange, request, response);
    serve(request, response, exchange)
      .catch((error: unknown) => fail(request, response, exchange, error))
      .catch((error: unknown) => {
        log.error({ requestId: exchange.requestId, error }, "a request could not even be refused");
        response.destroy();
      });
  };
}
