/**
 * Connect transports to a daemon over TCP (HTTP/1.1 or HTTP/2) and over its unix socket. A token and a
 * workspace are given once and go with every call. Messages are JSON, because a binary encoder would put
 * U+FFFD where text is malformed, and the daemon could no longer refuse it.
 */
import * as http from "node:http";
import * as https from "node:https";
import { connect } from "node:net";
import { Code, ConnectError, type Interceptor, type Transport } from "@connectrpc/connect";
import { createConnectTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { isLoopbackHost } from "../config/hosts.js";
import { maxResponseBytes, maxUnaryTimeoutMs } from "../kernel/limits.js";
import { brokeOff, type Endpoint, neverArrived, socketBaseUrl } from "./call.js";

/** A transport with connections of its own. An idle one does not keep a program running. */
export type ClientTransport = Transport & Disposable & { readonly close: () => void };

export type TransportOptions = {
  readonly token?: string | undefined;
  /** For the calls that do not name a workspace themselves. */
  readonly workspace?: string | undefined;
  /** 2 carries all calls over one connection; both are served. */
  readonly httpVersion?: "1.1" | "2";
};

/** Below the daemon's 1,000, so that one program cannot shut the others out. */
const maxConnections = 100;

function headerInterceptor({ token, workspace }: TransportOptions): Interceptor {
  return (next) => (request) => {
    if (token !== undefined) request.header.set("authorization", `Bearer ${token}`);
    if (workspace !== undefined && !request.header.has("memoryd-workspace")) {
      request.header.set("memoryd-workspace", workspace);
    }
    return next(request);
  };
}

/** Whether the connection ended the call; over HTTP/2 the library says `canceled` then, as if the caller had. */
function isBroken(error: unknown, signal: AbortSignal | undefined): boolean {
  const code = error instanceof ConnectError ? error.code : undefined;
  if (signal?.aborted === true || code === Code.DeadlineExceeded) return false;
  return brokeOff(error) || code === Code.Canceled;
}

/**
 * Says what to do where the library would say `connect ECONNREFUSED`, and would call a connection that broke
 * `aborted`, which is a version conflict, or `internal`.
 */
const explainTo =
  (signal: AbortSignal | undefined) =>
  (error: unknown): never => {
    const say = (message: string): never => {
      throw new ConnectError(message, Code.Unavailable, undefined, undefined, error);
    };
    if (neverArrived(error)) {
      say("No daemon answers there any more; start one with memoryd serve and call again.");
    }
    if (isBroken(error, signal)) {
      say("The connection broke before the answer came; read what is stored before you repeat a write.");
    }
    throw error;
  };

function openTransport(endpoint: Endpoint, options: TransportOptions): ClientTransport {
  const isSocket = "socket" in endpoint;
  const baseUrl = isSocket ? socketBaseUrl : endpoint.url;
  const { protocol, hostname } = new URL(baseUrl);
  const common = {
    baseUrl,
    useBinaryFormat: false,
    readMaxBytes: maxResponseBytes,
    interceptors: [headerInterceptor(options)],
    // Between two processes of one machine, packing costs more than it saves.
    ...(isLoopbackHost(hostname) ? { acceptCompression: [] } : {}),
  };
  let inner: Transport;
  let close: () => void;
  if (options.httpVersion === "2") {
    const dial = isSocket ? { createConnection: () => connect(endpoint.socket) } : {};
    const sessionManager = new Http2SessionManager(baseUrl, {}, dial);
    inner = createConnectTransport({ ...common, httpVersion: "2", sessionManager });
    close = () => sessionManager.abort();
  } else {
    const Agent = protocol === "https:" ? https.Agent : http.Agent;
    const agent = new Agent({ keepAlive: true, maxSockets: maxConnections });
    const dial = isSocket ? { agent, socketPath: endpoint.socket } : { agent };
    inner = createConnectTransport({ ...common, httpVersion: "1.1", nodeOptions: dial });
    close = () => agent.destroy();
  }
  return {
    unary: (method, signal, timeoutMs, ...rest) =>
      inner.unary(method, signal, timeoutMs ?? maxUnaryTimeoutMs, ...rest).catch(explainTo(signal)),
    stream: (method, signal, ...rest) => inner.stream(method, signal, ...rest).catch(explainTo(signal)),
    close,
    [Symbol.dispose]: close,
  };
}

/** A transport to `url`, such as `http://127.0.0.1:7411`. Make sure whose daemon that is before you give a token. */
export const createHttpTransport = ({
  url,
  ...options
}: TransportOptions & { readonly url: string }): ClientTransport => openTransport({ url }, options);

/** A transport over a daemon's unix socket, which needs no token. */
export const createSocketTransport = ({
  socket,
  ...options
}: TransportOptions & { readonly socket: string }): ClientTransport => openTransport({ socket }, options);
