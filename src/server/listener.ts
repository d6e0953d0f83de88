/**
 * One listener for HTTP/1.1 and HTTP/2 (daemon.md D12, D14): in cleartext told apart by the HTTP/2 preface,
 * under TLS by ALPN. It holds connections and their limits in time and number; it knows no request.
 *
 * The `http.Server` does the listening, because only a listening one tracks its connections and so keeps
 * its header and idle timeouts. Connections that turn out to speak HTTP/2 are handed to an `http2` server
 * that never listens itself.
 */
import {
  createServer as createHttp1Server,
  type Server as Http1Server,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { createServer as createHttp2Server, type ServerHttp2Session } from "node:http2";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, type ListenOptions, Server as NetServer, type Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { maxConnections, maxHeaderBytes, maxStreams, maxUnaryTimeoutMs } from "../kernel/limits.js";
import type { HttpHandler } from "./message.js";

export type ListenerOptions = {
  readonly handler: HttpHandler;
  /** PEM texts; absent for cleartext. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer };
  /** A client that has not said a whole request head by then is closed. */
  readonly silenceTimeoutMs?: number;
  /** A connection that carries no request for so long is closed. */
  readonly idleTimeoutMs?: number;
  readonly maxConnections?: number;
};

export type Listener = {
  /** Resolves with where it listens; rejects with the system's error. */
  readonly listen: (at: ListenOptions) => Promise<AddressInfo | string>;
  readonly openConnections: () => number;
  /** Stops accepting, ends what is idle, waits for the rest up to `graceMs`, then cuts it. */
  readonly close: (graceMs: number) => Promise<"clean" | "cut">;
};

const preface = Buffer.from("PRI * HTTP/2.0");
const keepAliveProbeMs = 30_000;
const sweepMs = 50;

export function createListener(options: ListenerOptions): Listener {
  const { handler, tls, silenceTimeoutMs = 10_000, idleTimeoutMs = 120_000 } = options;
  const http1Options = {
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: silenceTimeoutMs,
    requestTimeout: maxUnaryTimeoutMs,
    keepAliveTimeout: idleTimeoutMs,
    connectionsCheckingInterval: Math.min(1_000, silenceTimeoutMs),
  };
  let isClosing = false;
  const unanswered = new Set<ServerResponse>();
  const sayLast = (response: ServerResponse): void => {
    if (!response.headersSent) response.setHeader("connection", "close");
  };
  const handleHttp1 = (request: IncomingMessage, response: ServerResponse): void => {
    unanswered.add(response);
    response.once("close", () => unanswered.delete(response));
    if (isClosing) sayLast(response);
    handler(request, response);
  };
  const http1 =
    tls === undefined
      ? createHttp1Server(http1Options, handleHttp1)
      : createHttpsServer(
          {
            ...http1Options,
            ...tls,
            minVersion: "TLSv1.2",
            ALPNProtocols: ["h2", "http/1.1"],
            handshakeTimeout: silenceTimeoutMs,
          },
          handleHttp1,
        );
  http1.maxConnections = options.maxConnections ?? maxConnections;
  const http2 = createHttp2Server(
    { settings: { maxConcurrentStreams: maxStreams, maxHeaderListSize: maxHeaderBytes } },
    handler,
  );
  const sockets = new Set<Socket>();
  const undecided = new Set<Socket>();
  const openStreams = trackStreams(http2, idleTimeoutMs);

  const established = tls === undefined ? "connection" : "secureConnection";
  const [toHttp1] = http1.listeners(established) as ((this: Http1Server, socket: Socket) => void)[];
  const toHttp2 = (socket: Socket): void => {
    // http.Server's sockets are half-open: an http2 client that dies would keep its session for ever.
    socket.allowHalfOpen = false;
    http2.emit("connection", socket);
  };
  http1.removeAllListeners(established);
  http1.on(established, (socket: Socket) => {
    if (tls !== undefined) {
      if ((socket as TLSSocket).alpnProtocol === "h2") toHttp2(socket);
      else toHttp1?.call(http1, socket);
      return;
    }
    undecided.add(socket);
    decide(socket, silenceTimeoutMs, (isHttp2) => {
      undecided.delete(socket);
      if (isHttp2 === undefined) return;
      if (isHttp2) toHttp2(socket);
      else toHttp1?.call(http1, socket);
    });
  });
  http1.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.setKeepAlive(true, keepAliveProbeMs);
    socket.once("close", () => sockets.delete(socket));
    // Before a protocol has taken it over, a reset would otherwise be an uncaught error.
    socket.on("error", () => socket.destroy());
  });

  return {
    openConnections: () => sockets.size,
    listen: (at) =>
      new Promise((resolve, reject) => {
        http1.once("error", reject);
        http1.listen(at, () => {
          http1.off("error", reject);
          resolve(http1.address() as AddressInfo | string);
        });
      }),
    close: async (graceMs) => {
      isClosing = true;
      // A request may be on its way over any connection, so that those without one are closed a moment later
      // than the door; whoever is answered until then is told that it was the last answer.
      const closed = new Promise<"clean">((resolve) =>
        NetServer.prototype.close.call(http1, () => resolve("clean")),
      );
      for (const response of unanswered) sayLast(response);
      const sessions = [...openStreams.keys()];
      for (const session of sessions) session.close();
      const allSessions = Promise.all(
        sessions.map((session) => new Promise<void>((resolve) => session.once("close", resolve))),
      );
      let swept = 0;
      const sweep = setInterval(() => {
        swept += 1;
        http1.closeIdleConnections();
        for (const socket of undecided) socket.destroy();
        // The first rounds leave a client time to read the GOAWAY that says its next request was not taken.
        if (swept < 3) return;
        for (const [session, streams] of openStreams) if (streams === 0) session.destroy();
      }, sweepMs);
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<"cut">((resolve) => {
        timer = setTimeout(() => resolve("cut"), graceMs);
      });
      const how = await Promise.race([Promise.all([closed, allSessions]).then(() => "clean" as const), late]);
      clearTimeout(timer);
      clearInterval(sweep);
      // Ends the timer that looks after idle connections.
      http1.close();
      if (how === "cut") {
        for (const session of openStreams.keys()) session.destroy();
        for (const socket of sockets) socket.destroy();
        await closed;
      }
      return how;
    },
  };
}

/** Counts the streams of every HTTP/2 session, and ends a session that had none for `idleTimeoutMs`. */
function trackStreams(
  http2: ReturnType<typeof createHttp2Server>,
  idleTimeoutMs: number,
): Map<ServerHttp2Session, number> {
  const openStreams = new Map<ServerHttp2Session, number>();
  // A session that breaks its protocol is closed by the library; its error is the peer's.
  http2.on("sessionError", () => {});
  http2.on("session", (session) => {
    let streams = 0;
    // The session's own timeout would be put off by every byte, and so by a request head that never ends.
    let idle: NodeJS.Timeout | undefined;
    const count = (by: number): void => {
      if (session.destroyed) return;
      streams += by;
      openStreams.set(session, streams);
      clearTimeout(idle);
      if (streams === 0) idle = setTimeout(() => session.destroy(), idleTimeoutMs);
    };
    count(0);
    session.on("stream", (stream) => {
      count(1);
      stream.once("close", () => count(-1));
    });
    session.once("close", () => {
      clearTimeout(idle);
      openStreams.delete(session);
    });
  });
  return openStreams;
}

/**
 * Reads from `socket` until it is certain whether it speaks HTTP/2, puts back all that was read, and says
 * so; says `undefined` when the socket ended first. A client that stays silent is closed.
 */
function decide(socket: Socket, timeoutMs: number, decided: (isHttp2: boolean | undefined) => void): void {
  let seen: Buffer = Buffer.alloc(0);
  const timer = setTimeout(() => socket.destroy(), timeoutMs);
  const settle = (isHttp2: boolean | undefined): void => {
    clearTimeout(timer);
    socket.off("readable", onReadable).off("close", onClose).off("end", onEnd);
    decided(isHttp2);
  };
  const onClose = (): void => settle(undefined);
  const onEnd = (): void => {
    socket.destroy();
  };
  const onReadable = (): void => {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) return;
    seen = seen.length === 0 ? chunk : Buffer.concat([seen, chunk]);
    const known = Math.min(seen.length, preface.length);
    const matches = seen.subarray(0, known).equals(preface.subarray(0, known));
    if (matches && known < preface.length) return;
    socket.unshift(seen);
    settle(matches);
  };
  socket.on("readable", onReadable).on("close", onClose).on("end", onEnd);
}
