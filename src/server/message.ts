/**
 * One HTTP exchange, whatever its version: the types that the server's files share, and what Node leaves to
 * do around every exchange so that no peer can hold a connection or end the process (daemon.md D12, D14).
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";

export type HttpRequest = IncomingMessage | Http2ServerRequest;
export type HttpResponse = ServerResponse | Http2ServerResponse;
export type HttpHandler = (request: HttpRequest, response: HttpResponse) => void;

export const isHttp2 = (request: HttpRequest): request is Http2ServerRequest => "stream" in request;

const unreadBodyTimeoutMs = 2_000;
/** A client that sends nothing for so long waits for the answer, as those of streams in both directions do. */
const quietBodyMs = 100;

/** The value of a header that counts once; the first where Node kept several. */
export function headerOf(request: HttpRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** The path without its query. */
export const pathOf = (request: HttpRequest): string => (request.url ?? "").split("?", 1)[0] ?? "";

/** Size of the header block as it was sent, without compression. */
export const headerBytesOf = (request: HttpRequest): number =>
  request.rawHeaders.reduce((sum, text) => sum + text.length + 2, 0);

/**
 * Resolves when it is time to refuse `request`: over HTTP/2 not while its body is still coming, because clients
 * reset what they were told to stop, and Node's then counts the unsent rest against its connection for ever.
 * What comes is thrown away.
 */
export function bodyGone(request: HttpRequest): Promise<void> {
  if (!isHttp2(request) || request.stream.readableEnded || request.stream.closed) return Promise.resolve();
  return new Promise((resolve) => {
    const settle = (): void => {
      clearTimeout(quiet);
      clearTimeout(whole);
      request.off("data", onData);
      resolve();
    };
    const quiet = setTimeout(settle, quietBodyMs);
    const whole = setTimeout(settle, unreadBodyTimeoutMs);
    const onData = (): void => {
      quiet.refresh();
    };
    request.on("data", onData).once("end", settle).once("close", settle);
  });
}

/** Calls `listener` when the whole answer is handed to the connection; never for one that broke off. */
export function onceAnswered(request: HttpRequest, response: HttpResponse, listener: () => void): void {
  // An HTTP/2 response emits `finish` only when its stream is closed, for whatever reason.
  if (isHttp2(request)) request.stream.once("finish", listener);
  else response.once("finish", listener);
}

/**
 * Swallows the errors of a peer that went away (the handler sees an abort), and gets rid of a body that was
 * not read before the answer: it would keep its stream or connection open for ever. It is read for a while
 * before the stream is reset, because clients take an early reset for a broken answer.
 */
export function tendExchange(request: HttpRequest, response: HttpResponse): void {
  request.on("error", () => {});
  response.on("error", () => {});
  onceAnswered(request, response, () => {
    const body = isHttp2(request) ? request.stream : request;
    const isRead = isHttp2(request)
      ? request.stream.readableEnded || request.stream.closed
      : request.complete;
    if (body.destroyed || isRead) return;
    // Not the stream itself: it pauses again as soon as the request's own buffer is full.
    request.resume();
    const timer = setTimeout(() => {
      if (isHttp2(request)) request.stream.close(constants.NGHTTP2_NO_ERROR);
      else request.socket.destroy();
    }, unreadBodyTimeoutMs);
    body.once("end", () => clearTimeout(timer)).once("close", () => clearTimeout(timer));
  });
}
