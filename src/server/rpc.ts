/**
 * Every RPC, in Connect, gRPC and gRPC-Web (daemon.md D12–D14): which methods there are, and under which limits
 * the library serves them. It knows no service but health and reflection; the others come with
 * `registerRoutes`. One call from its head to its answer is `rpc-call.ts`.
 */
import { brotliCompress, constants } from "node:zlib";
import { type ConnectRouter, createConnectRouter, type Interceptor } from "@connectrpc/connect";
import type { Compression } from "@connectrpc/connect/protocol";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";
import { file_google_rpc_error_details } from "../../gen/google/rpc/error_details_pb.js";
import { ServerReflection } from "../../gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionAlpha } from "../../gen/grpc/reflection/v1alpha/reflection_pb.js";
import { Health } from "../../gen/health/v1/health_pb.js";
import { maxRequestBytes, maxResponseBytes } from "../kernel/limits.js";
import { untilAborted } from "./abortable.js";
import type { OpenCalls } from "./calls.js";
import type { Exchange } from "./exchange.js";
import type { Protocol } from "./failure.js";
import { registerHealth } from "./health.js";
import { requestErrorFrom } from "./library-refusal.js";
import type { HttpRequest, HttpResponse } from "./message.js";
import type { Readiness } from "./readiness.js";
import { registerReflection } from "./reflection.js";
import { progressKey, type RpcMethod, serveCall } from "./rpc-call.js";

export type RpcOptions = {
  readonly registerRoutes: (router: ConnectRouter) => void;
  readonly interceptors: readonly Interceptor[];
  readonly readiness: Readiness;
  readonly calls: OpenCalls;
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

const openServices: ReadonlySet<string> = new Set(
  [Health, ServerReflection, ServerReflectionAlpha].map(({ typeName }) => typeName),
);

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
    files: [...router.handlers.map(({ service }) => service.file), file_google_rpc_error_details],
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
