/**
 * What the RPC library refuses before any of our code runs (an unreadable, oversized or miscounted message),
 * said again in our words: its own texts quote what was sent, and call a client's unreadable bytes an
 * internal error. Rebuilt are the code and one sentence; nothing of the library's text is passed on but the
 * name of a field or type of the contract.
 *
 * | library's code | answer |
 * | --- | --- |
 * | resource_exhausted | resource_exhausted REQUEST_TOO_LARGE |
 * | unimplemented | unimplemented, for an unknown compression or a wrong number of messages |
 * | invalid_argument, internal, data_loss | invalid_argument REQUEST_UNREADABLE, with the field if it is named |
 * | any other (they are ours: deadline, shutdown) | as it is |
 */
import { Code, ConnectError } from "@connectrpc/connect";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { codeFromString } from "@connectrpc/connect/protocol-connect";
import { findTrailerError } from "@connectrpc/connect/protocol-grpc";
import { trailerFlag, trailerParse } from "@connectrpc/connect/protocol-grpc-web";
import { invalidArgument } from "../kernel/errors.js";
import { maxRequestBytes } from "../kernel/limits.js";
import { connectErrorFrom } from "../wire/errors.js";
import { type Protocol, refusal } from "./failure.js";

const acceptedEncodings = "gzip,br";

const acceptHeaders: Readonly<Record<Protocol, string>> = {
  connect: "accept-encoding",
  "connect-stream": "connect-accept-encoding",
  grpc: "grpc-accept-encoding",
  "grpc-web": "grpc-accept-encoding",
};

/** What a value of this type must be, where more can be said than that it does not fit. */
const ruleOf = (name: string): string =>
  name === "google.protobuf.FieldMask"
    ? 'is one string of lowerCamelCase names in JSON, such as "updateMask": "status,body"'
    : "does not fit its type";

function unreadable(text: string): ConnectError {
  // The text of a value that does not fit begins with its quotation mark, or is the word for its type.
  if (/^cannot decode message [\w.]+ from JSON: [^"].*\bJSON\b/s.test(text)) {
    return refusal(
      Code.InvalidArgument,
      "REQUEST_UNREADABLE",
      "The body is not JSON; send one whole JSON object, {} when there is nothing to say.",
    );
  }
  const named = /^cannot decode (?:field|oneof|enum|message) ([\w.]+) from JSON/.exec(text)?.[1];
  if (named !== undefined) {
    return connectErrorFrom(
      invalidArgument([{ field: named, description: ruleOf(named) }], "REQUEST_UNREADABLE"),
    );
  }
  return refusal(
    Code.InvalidArgument,
    "REQUEST_UNREADABLE",
    "The request cannot be read as this method's message; send whole, valid UTF-8 JSON or protobuf of its contract.",
  );
}

export const requestTooLarge = (): ConnectError =>
  refusal(
    Code.ResourceExhausted,
    "REQUEST_TOO_LARGE",
    `The request is larger than ${maxRequestBytes} bytes after inflating; send less in one call.`,
  );

/** Our error for one of the library's, which reached us as `error` while the request was read. */
export function requestErrorFrom(error: unknown, protocol: Protocol): ConnectError {
  // What is no error of the library is the connection's: the peer went away while it was sending.
  const { code, rawMessage } = ConnectError.from(error, Code.Canceled);
  switch (code) {
    case Code.ResourceExhausted:
      return requestTooLarge();
    case Code.Unimplemented: {
      if (!rawMessage.startsWith("unknown compression")) {
        return refusal(Code.Unimplemented, "MESSAGE_COUNT", "This method takes exactly one request message.");
      }
      const answer = refusal(
        Code.Unimplemented,
        "COMPRESSION_UNKNOWN",
        "Compress requests with gzip or br, or not at all.",
      );
      answer.metadata.set(acceptHeaders[protocol], acceptedEncodings);
      return answer;
    }
    case Code.InvalidArgument:
    case Code.Internal:
    case Code.DataLoss:
      return unreadable(rawMessage);
    default:
      return ConnectError.from(error, Code.Canceled);
  }
}

async function bytesOf(answer: UniversalServerResponse): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.body ?? []) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function errorFromJson(bytes: Buffer): ConnectError {
  try {
    const { code, message } = JSON.parse(bytes.toString("utf8")) as Record<string, unknown>;
    const known = typeof code === "string" ? codeFromString(code) : undefined;
    if (known !== undefined) return new ConnectError(typeof message === "string" ? message : "", known);
  } catch {
    // Compressed, since the library's text was long: its code is lost, and only unreadable requests have long texts.
  }
  return new ConnectError("", Code.InvalidArgument);
}

/** The trailers of a gRPC-Web answer that has no message in front of them. */
function errorFromTrailers(bytes: Buffer): ConnectError | undefined {
  if (bytes.length < 5 || bytes[0] !== trailerFlag) return undefined;
  return findTrailerError(trailerParse(bytes.subarray(5)));
}

/** Our error for the library's answer to a unary call that no handler saw. Consumes the answer's body. */
export async function errorFromAnswer(
  answer: UniversalServerResponse,
  protocol: Protocol,
): Promise<ConnectError> {
  const bytes = await bytesOf(answer);
  const told =
    protocol === "connect"
      ? errorFromJson(bytes)
      : (findTrailerError(answer.trailer ?? new Headers()) ?? errorFromTrailers(bytes));
  return requestErrorFrom(told ?? new ConnectError("", Code.InvalidArgument), protocol);
}
