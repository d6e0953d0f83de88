/**
 * One RPC from its head to its answer: Node's request as the library's handlers take it, what the services are
 * told about it, its deadline, and the refusals that the library makes by itself. Which methods there are, and
 * their limits, is `rpc.ts`.
 */
import { Code, ConnectError, createContextKey, createContextValues } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { universalResponseToNodeResponse } from "@connectrpc/connect-node";
import { callerKey, outcomeKey, requestIdKey } from "../wire/context.js";
import { untilAborted } from "./abortable.js";
import type { OpenCalls } from "./calls.js";
import { limitDeadline } from "./deadline.js";
import type { Exchange } from "./exchange.js";
import { HttpRefusal, type Protocol, protocolFrom, refusal } from "./failure.js";
import { errorFromAnswer } from "./library-refusal.js";
import { type HttpRequest, type HttpResponse, headerOf } from "./message.js";

export type RpcMethod = {
  /** `package.Service/Method`, for logs and metrics. */
  readonly label: string;
  /** Whether it may be called without a token. */
  readonly isOpen: boolean;
  readonly handler: UniversalHandler;
};

/** How far a call has come: `isReached` once the library has let it through to an interceptor. */
export type Progress = { readonly protocol: Protocol; isReached: boolean };

export const progressKey = createContextKey<Progress | undefined>(undefined, { description: "progress" });

/** A client that has not read its answer so long after the deadline holds memory and no more. */
const unreadAnswerMs = 10_000;

/** One for all calls, because an error of its own for each, with its stack, is the dearest part of an abort. */
const gone = new ConnectError("the client went away", Code.Canceled);

function webHeaders(request: HttpRequest): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (name.startsWith(":") || value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) headers.append(name, one);
  }
  return headers;
}

/** Answers the call. Rejects with what it is to be refused for instead. */
export async function serveCall(
  { handler }: RpcMethod,
  request: HttpRequest,
  response: HttpResponse,
  exchange: Exchange,
  calls: OpenCalls,
): Promise<void> {
  if (request.method !== "POST") {
    response.setHeader("allow", "POST");
    const error = refusal(Code.Unimplemented, "POST_ONLY", "RPCs are called with POST.");
    throw new HttpRefusal(error, 405, { isPlain: true });
  }
  const protocol = protocolFrom(headerOf(request, "content-type"));
  const isUnary = handler.method.methodKind === "unary";
  const progress: Progress = { protocol, isReached: false };
  const contextValues = createContextValues()
    .set(callerKey, exchange.caller)
    .set(requestIdKey, exchange.requestId)
    .set(outcomeKey, exchange.outcome)
    .set(progressKey, progress);
  const header = webHeaders(request);
  const timeoutMs = limitDeadline(header, protocol, isUnary);

  const controller = new AbortController();
  const end = (reason: ConnectError): void => controller.abort(reason);
  const forget = calls.add({ isStream: !isUnary, end });
  const stopClock = timeoutMs === undefined ? () => {} : startClock(timeoutMs, response, end);
  response.once("close", () => {
    stopClock();
    forget();
    // Does nothing to a call that is over.
    end(gone);
  });

  const answer = await handler({
    httpVersion: request.httpVersion,
    method: request.method,
    // The name that the client used is no part of a call, and may be one that no URL can have.
    url: `http://localhost${request.url ?? ""}`,
    header,
    contextValues,
    signal: controller.signal,
    // Node would destroy a request whose reading stops early, and with it the connection that should say why.
    body: untilAborted<Uint8Array>(request.iterator({ destroyOnReturn: false }), controller.signal),
  });
  if (isRefusedByHttp(answer)) throw httpRefusal(answer.status, response);
  if (isUnary && !progress.isReached) throw await errorFromAnswer(answer, protocol);
  writeAnswer(answer, response);
}

/**
 * Ends a call at its deadline, also while its request is still being sent, which the library's own deadline does
 * not; and then the connection of a client that does not read the answer. Answers how to stop it.
 */
function startClock(
  timeoutMs: number,
  response: HttpResponse,
  end: (reason: ConnectError) => void,
): () => void {
  let timer = setTimeout(() => {
    end(refusal(Code.DeadlineExceeded, "DEADLINE_EXCEEDED", "The call took longer than its deadline."));
    timer = setTimeout(() => response.destroy(), unreadAnswerMs);
    timer.unref();
  }, timeoutMs);
  return () => clearTimeout(timer);
}

/** Whether the library refused the request by an HTTP status alone. */
const isRefusedByHttp = ({ status, body }: UniversalServerResponse): boolean =>
  status >= 400 && body === undefined;

function httpRefusal(status: number, response: HttpResponse): HttpRefusal {
  if (status === 505) {
    // Clients that expect to send and receive at once would wait for ever on this connection.
    response.setHeader("connection", "close");
    const error = refusal(Code.Unimplemented, "HTTP2_NEEDED", "Calls that stream both ways need HTTP/2.");
    return new HttpRefusal(error, status, { isPlain: true });
  }
  const error = refusal(
    Code.InvalidArgument,
    "CONTENT_TYPE_UNKNOWN",
    "Send application/json, application/proto, or a content type of gRPC, gRPC-Web or Connect streaming.",
  );
  return new HttpRefusal(error, status, { isPlain: true });
}

/** Starts to write; the promise of the library never settles for an answer that was written whole. */
function writeAnswer(answer: UniversalServerResponse, response: HttpResponse): void {
  universalResponseToNodeResponse(answer, response).catch(() => {
    // The peer is gone, or the answer broke off after its head: either way nothing more can be said on it.
    if (!response.writableFinished) response.destroy();
  });
}
