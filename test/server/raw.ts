/** Requests byte by byte and stream by stream, for what no client library would send. */
import { connect as connectHttp2, type OutgoingHttpHeaders } from "node:http2";
import { connect } from "node:net";
import { token } from "./support.js";

export type RawOptions = {
  readonly timeoutMs?: number;
  /** Stop reading once this holds; else at the peer's close. */
  readonly until?: (text: string) => boolean;
  /** Half-close after sending. */
  readonly ends?: boolean;
};

export type RawAnswer = { readonly text: string; readonly isClosed: boolean };

/** Everything that comes back for `chunks`, each sent as a write of its own. */
export function sendRaw(
  port: number,
  chunks: readonly (string | Uint8Array)[],
  { timeoutMs = 5_000, until, ends = false }: RawOptions = {},
): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const received: Buffer[] = [];
    const text = () => Buffer.concat(received).toString("latin1");
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    const settle = (isClosed: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ text: text(), isClosed });
    };
    const timer = setTimeout(() => settle(false), timeoutMs);
    socket.on("data", (chunk) => {
      received.push(chunk);
      if (until?.(text())) settle(false);
    });
    socket.on("end", () => settle(true)).on("close", () => settle(true));
    socket.on("error", () => {});
    socket.setNoDelay(true);
    socket.once("connect", async () => {
      for (const chunk of chunks) {
        if (socket.destroyed) return;
        socket.write(chunk);
        await new Promise((sent) => setImmediate(sent));
      }
      if (ends) socket.end();
    });
  });
}

/** The head of a Connect JSON call in good standing, without its body and the empty line. */
export const callHead = (method = "GetCursor"): string =>
  `POST /magus.memory.v1.MemoryService/${method} HTTP/1.1\r\nHost: localhost\r\n` +
  `Authorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;

/** Whole HTTP/1.1 answers seen in `text`, by their status. */
export const statusesIn = (text: string): readonly number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));

export type Http2Answer = {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly trailers: Readonly<Record<string, unknown>>;
  readonly body: string;
  /** The stream or its connection broke before an answer. */
  readonly isBroken: boolean;
};

/** One HTTP/2 request with prior knowledge, with any header and any body. */
export function sendHttp2(
  port: number,
  headers: OutgoingHttpHeaders,
  body: readonly Uint8Array[] = [],
): Promise<Http2Answer> {
  return new Promise((resolve) => {
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    let answer: Http2Answer = { status: undefined, headers: {}, trailers: {}, body: "", isBroken: false };
    const settle = (isBroken: boolean) => {
      session.destroy();
      resolve({ ...answer, isBroken: isBroken && answer.status === undefined });
    };
    session.on("error", () => settle(true)).on("close", () => settle(true));
    const stream = session.request({
      ":method": "POST",
      ":path": "/magus.memory.v1.MemoryService/GetCursor",
      authorization: `Bearer ${token}`,
      ...headers,
    });
    stream.on("error", () => settle(true));
    stream.on("response", (received) => {
      answer = { ...answer, status: Number(received[":status"]), headers: { ...received } };
    });
    stream.on("trailers", (trailers) => {
      answer = { ...answer, trailers: { ...trailers } };
    });
    stream.on("data", (chunk: Buffer) => {
      answer = { ...answer, body: answer.body + chunk.toString("latin1") };
    });
    stream.on("close", () => settle(true));
    for (const chunk of body) stream.write(chunk);
    stream.end();
  });
}

/** One gRPC message in its frame; `length` may lie. */
export function grpcFrame(message: Uint8Array, { flags = 0, length = message.length } = {}): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flags, 0);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, message]);
}
