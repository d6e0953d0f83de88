/**
 * An answer that says no before any RPC handler ran, in the words of the protocol that asked, so that every
 * client shows the sentence and not just a number. The protocol is told by Content-Type alone: looking at
 * the path would reveal what exists (daemon.md D23).
 *
 * | Content-Type | answer |
 * | --- | --- |
 * | `application/grpc…` | 200, `grpc-status` and `grpc-message` in the header (trailers only) |
 * | `application/grpc-web…` | the same |
 * | `application/connect+…` | 200, one end-of-stream message with the error |
 * | anything else, and what concerns HTTP itself | the HTTP status, and the error as Connect's JSON |
 */
import { Code, ConnectError } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { codeToHttpStatus, endStreamFlag, errorToJson } from "@connectrpc/connect/protocol-connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import { errorDomain } from "../wire/errors.js";
import { type HttpRequest, type HttpResponse, headerOf } from "./message.js";

export type Protocol = "connect" | "connect-stream" | "grpc" | "grpc-web";

export function protocolFrom(contentType: string | undefined): Protocol {
  const type = (contentType ?? "").toLowerCase();
  if (/^application\/grpc-web(?:[+;]|$)/.test(type)) return "grpc-web";
  if (/^application\/grpc(?:[+;]|$)/.test(type)) return "grpc";
  return type.startsWith("application/connect+") ? "connect-stream" : "connect";
}

/** A refusal by the protocols themselves, whose codes the domains do not know. */
export const refusal = (code: Code, reason: string, message: string): ConnectError =>
  new ConnectError(message, code, undefined, [
    { desc: ErrorInfoSchema, value: { reason, domain: errorDomain } },
  ]);

export const hiddenFailure = (): ConnectError =>
  refusal(
    Code.Internal,
    "INTERNAL",
    "Something went wrong inside memoryd; the daemon's log has the cause under this request's x-request-id.",
  );

const jsonType = "application/json";

/** The content type of the answer: that of the question, without its parameters. */
function sameContentType(request: HttpRequest, protocol: Protocol): string {
  const asksJson = /\+json\b/i.test(headerOf(request, "content-type") ?? "");
  const suffix = asksJson ? "json" : "proto";
  if (protocol === "grpc") return asksJson ? "application/grpc+json" : "application/grpc";
  return protocol === "grpc-web" ? `application/grpc-web+${suffix}` : `application/connect+${suffix}`;
}

function sendBytes(response: HttpResponse, status: number, contentType: string, bytes: Uint8Array): void {
  response.statusCode = status;
  response.setHeader("content-type", contentType);
  response.setHeader("content-length", bytes.byteLength);
  // Given no bytes at all, HTTP/2 ends the stream with the header, and only then is that what gRPC calls
  // trailers only; clients take the status in a header that does not end the stream for none.
  if (bytes.byteLength === 0) response.end();
  else response.end(bytes);
}

/** A JSON document as the whole answer; never kept by a cache. */
export function sendJson(response: HttpResponse, status: number, value: unknown): void {
  response.setHeader("cache-control", "no-store");
  sendBytes(response, status, jsonType, Buffer.from(`${JSON.stringify(value)}\n`, "utf8"));
}

/** Thrown for a refusal whose HTTP status is not the one that its code has there. */
export class HttpRefusal extends Error {
  override readonly name = "HttpRefusal";
  readonly error: ConnectError;
  readonly status: number;
  /** To be seen in HTTP whatever the protocol: a wrong verb, type or version. */
  readonly isPlain: boolean;

  constructor(error: ConnectError, status: number, { isPlain = false } = {}) {
    super(error.message);
    this.error = error;
    this.status = status;
    this.isPlain = isPlain;
  }
}

/** Answers `request` with the error, or destroys an answer that has begun. */
export function sendFailure(
  request: HttpRequest,
  response: HttpResponse,
  failure: ConnectError | HttpRefusal,
): void {
  if (response.writableEnded) return;
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { error, status, isPlain } =
    failure instanceof HttpRefusal ? failure : new HttpRefusal(failure, codeToHttpStatus(failure.code));
  const protocol = isPlain ? "connect" : protocolFrom(headerOf(request, "content-type"));
  switch (protocol) {
    case "grpc":
    case "grpc-web":
      for (const [name, value] of setTrailerStatus(new Headers(), error)) response.setHeader(name, value);
      sendBytes(response, 200, sameContentType(request, protocol), new Uint8Array());
      return;
    case "connect-stream": {
      const end = Buffer.from(JSON.stringify({ error: errorToJson(error, undefined) }), "utf8");
      sendBytes(response, 200, sameContentType(request, protocol), encodeEnvelope(endStreamFlag, end));
      return;
    }
    case "connect":
      for (const [name, value] of error.metadata) response.setHeader(name, value);
      sendJson(response, status, errorToJson(error, undefined));
  }
}
