/**
 * The other direction of `errors.ts`: an error that a call ended with, as the one error class that programs of
 * ours know.
 *
 * | the error | becomes |
 * | --- | --- |
 * | carries `google.rpc.ErrorInfo` | what the daemon meant: code, reason, violations, metadata |
 * | does not, and the connection or the time ran out | `unavailable` |
 * | does not, and its code asks for other credentials | that code |
 * | anything else | `unavailable`: who answered is no memoryd |
 */
import { Code, type ConnectError } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import { type ErrorCode, MemorydError } from "../kernel/errors.js";
import { connectCodes } from "./errors.js";

const codesOfProtocols: ReadonlyMap<Code, ErrorCode> = new Map([
  [Code.Canceled, "unavailable"],
  [Code.DeadlineExceeded, "unavailable"],
  [Code.Unimplemented, "failed_precondition"],
  [Code.OutOfRange, "invalid_argument"],
]);

const errorCodeByConnectCode: ReadonlyMap<Code, ErrorCode> = new Map([
  ...codesOfProtocols,
  ...Object.entries(connectCodes).map(([code, connectCode]) => [connectCode, code as ErrorCode] as const),
]);

/** What the library says of a connection that broke; a conflict of ours is never without its ErrorInfo. */
const brokenOff: ReadonlySet<Code> = new Set([
  Code.Canceled,
  Code.DeadlineExceeded,
  Code.Aborted,
  Code.Unavailable,
]);

/** Library texts are no sentences; those of our own transports are. */
const isSentence = (text: string): boolean => text.endsWith(".");

function errorOfConnection(error: ConnectError): MemorydError {
  const { code, rawMessage: text } = error;
  const refusal = (as: ErrorCode, reason: string, message: string): MemorydError =>
    new MemorydError(as, isSentence(text) ? text : message, { reason, cause: error });
  if (brokenOff.has(code)) {
    const message = `The call was broken off (${text}); read what is stored before you repeat a write.`;
    return refusal("unavailable", "CALL_BROKEN_OFF", message);
  }
  if (code === Code.Unauthenticated || code === Code.PermissionDenied) {
    const as = code === Code.Unauthenticated ? "unauthenticated" : "permission_denied";
    return refusal(as, as.toUpperCase(), `The call was turned away (${text}); send a token that is let in.`);
  }
  const message = `The answer is not one of memoryd (${text}); check whose address that is.`;
  return refusal("unavailable", "UNEXPECTED_ANSWER", message);
}

/** `current` is what the caller made of the error's details. */
export function memorydErrorFromConnect(error: ConnectError, current?: unknown): MemorydError {
  const [info] = error.findDetails(ErrorInfoSchema);
  if (info === undefined) return errorOfConnection(error);
  const violations = error.findDetails(BadRequestSchema).flatMap(({ fieldViolations }) => fieldViolations);
  return new MemorydError(errorCodeByConnectCode.get(error.code) ?? "internal", error.rawMessage, {
    reason: info.reason,
    metadata: info.metadata,
    violations: violations.map(({ field, description }) => ({ field, description })),
    current,
    cause: error,
  });
}
