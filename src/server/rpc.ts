/**
 * Every RPC, in Connect, gRPC and gRPC-Web (daemon.md D12–D14): joins the library's handlers with Node's
 * requests under our limits and deadlines, and with what the services are told about a request. It knows no
 * service but health and reflection; the others come with `registerRoutes`.
 */
import { brotliCompress, constants } from "node:zlib";
import type { DescFile } from "@bufbuild/protobuf";
import {
  Code,
  type ConnectError,
  type ConnectRouter,
  createConnectRouter,
  createContextKey,
  createContextValues,
  type Interceptor,
} from "@connectrpc/connect";
import type { Compression, UniversalHandler, UniversalServerResponse } from "@connectrpc/connect/protocol";
import {
  compressionBrotli,
  compressionGzip,
  universalRequestFromNodeRequest,
  universalResponseToNodeResponse,
} from "@connectrpc/connect-node";
import { file_google_rpc_error_details } from "../../gen/google/rpc/error_details_pb.js";
import { ServerReflection } from "../../gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionAlpha } from "../../gen/grpc/reflection/v1alpha/reflection_pb.js";
import { Health } from "../../gen/health/v1/health_pb.js";
import { maxRequestBytes, maxResponseBytes } from "../kernel/limits.js";
import { callerKey, outcomeKey, requestIdKey } from "../wire/context.js";
import { untilAborted } from "./abortable.js";
import type { OpenCalls } from "./calls.js";
import { limitDeadline } from "./deadline.js";
import type { Exchange } from "./exchange.js";
import { HttpRefusal, type Protocol, protocolFrom, refusal } from "./failure.js";
import { registerHealth } from "./health.js";
import { errorFromAnswer, requestErrorFrom } from "./library-refusal.js";
import { type HttpRequest, type HttpResponse, headerOf } from "./message.js";
import type { Readiness } from "./readiness.js";
import { registerReflection } from "./reflection.js";

export type RpcOptions = {
  readonly registerRoutes: (router: ConnectRouter) => void;
  readonly interceptors: readonly Interceptor[];
  /** Files of messages that appear only as error details, so that reflection knows them too. */
  readonly detailFiles: readonly DescFile[];
  readonly readiness: Readiness;
  readonly calls: OpenCalls;
};

export type RpcMethod = {
  /** `package.Service/Method`, for logs and metrics. */
  readonly label: string;
  /** Whether it may be called without a token. */
  readonly isOpen: boolean;
  readonly handler: UniversalHandler;
};

export type Rpc = {
  readonly methodAt: (path: string) => RpcMethod | undefined;
  /** Answers the request. Rejects with what it is to be refused for instead. */
  readonly serve: (
    method: RpcMethod,
    request: HttpRequest,
    response: HttpResponse,
    exchange: Exchange,
  ) => Promise<void>;
};

/** Set once a call has got past the library to an interceptor. */
type Progress = { readonly protocol: Protocol; isReached: boolean };

const progressKey = createContextKey<Progress | undefined>(undefined, { description: "progress" });
const openServices: ReadonlySet<string> = new Set(
  [Health, ServerReflection, ServerReflectionAlpha].map(({ typeName }) => typeName),
);

/** A client that has not read its answer so long after the deadline holds memory and no more. */
const unreadAnswerMs = 10_000;

/** Node's default effort for brotli takes seconds for what is sent once. */
const brotliQuality = 4;

const brotli: Compression = {
  name: compressionBrotli.name,
  compress: (bytes) =>
    new Promise((resolve, reject) => {
      const params = { [constants.BROTLI_PARAM_QUALITY]: brotliQuality };
      brotliCompress(bytes, { params }, (error, compressed) => {
        if (error === null) resolve(new Uint8Array(compressed));
        else reject(error);
      });
    }),
  decompress: compressionBrotli.decompress,
};

/** Text that is not UTF-8 is refused; the library's default would repair it without a word. */
const jsonOptions = { ignoreUnknownFields: true, textDecoder: new TextDecoder("utf-8", { fatal: true }) };

/** Passes on what the request says, its errors in our words. */
async function* readable<T>(messages: AsyncIterable<T>, protocol: Protocol): AsyncGenerator<T> {
  try {
    yield* messages;
  } catch (error) {
    throw requestErrorFrom(error, protocol);
  }
}

/** Outermost: notes that the library let the call through, and makes streams end when their signal says so. */
const boundary: Interceptor = (next) => async (request) => {
  const progress = request.contextValues.get(progressKey);
  if (progress !== undefined) progress.isReached = true;
  if (!request.stream) return next(request);
  const message = readable(request.message, progress?.protocol ?? "connect-stream");
  const response = await next({ ...request, message });
  return response.stream
    ? { ...response, message: untilAborted<never>(response.message as AsyncIterable<never>, request.signal) }
    : response;
};

export function createRpc(options: RpcOptions): Rpc {
  const { calls } = options;
  const router = createConnectRouter({
    interceptors: [boundary, ...options.interceptors],
    acceptCompression: [compressionGzip, brotli],
    readMaxBytes: maxRequestBytes,
    writeMaxBytes: maxResponseBytes,
    jsonOptions,
  });
  const serviceNames = (): readonly string[] =>
    [...new Set(router.handlers.map(({ service }) => service.typeName))].sort();
  options.registerRoutes(router);
  registerHealth(router, options.readiness, serviceNames);
  registerReflection(router, () => ({
    serviceNames: serviceNames(),
    files: [
      ...router.handlers.map(({ service }) => service.file),
      file_google_rpc_error_details,
      ...options.detailFiles,
    ],
  }));
  const methods = new Map<string, RpcMethod>(
    router.handlers.map((handler) => [
      handler.requestPath,
      {
        label: handler.requestPath.slice(1),
        isOpen: openServices.has(handler.service.typeName),
        handler,
      },
    ]),
  );

  return {
    methodAt: (path) => methods.get(path),
    serve: async (method, request, response, exchange) => {
      const serveIt = () => serveCall(method, request, response, exchange, calls);
      await (exchange.span === undefined ? serveIt() : exchange.span.run(serveIt));
    },
  };
}

async function serveCall(
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
  const universal = universalRequestFromNodeRequest(request, response, undefined, contextValues);
  const timeoutMs = limitDeadline(universal.header, protocol, isUnary);

  const controller = new AbortController();
  const end = (reason: unknown): void => controller.abort(reason);
  universal.signal.addEventListener("abort", () => end(universal.signal.reason), { once: true });
  const forget = calls.add({ isStream: !isUnary, end });
  const stopClock = timeoutMs === undefined ? () => {} : startClock(timeoutMs, response, end);
  response.once("close", () => {
    stopClock();
    forget();
  });

  const answer = await handler({
    ...universal,
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
