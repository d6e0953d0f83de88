/**
 * The other direction of `errors.ts`: an error that a daemon answered, as the one error class that programs
 * of ours know. What comes from another memoryd is taken as it was meant; codes that only the protocols have
 * are put where who called can act on them.
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

/** The error with its reason, violations and metadata; `current` is what the caller made of its details. */
export function memorydErrorFromConnect(error: ConnectError, current?: unknown): MemorydError {
  const [info] = error.findDetails(ErrorInfoSchema);
  const violations = error.findDetails(BadRequestSchema).flatMap(({ fieldViolations }) => fieldViolations);
  return new MemorydError(errorCodeByConnectCode.get(error.code) ?? "internal", error.rawMessage, {
    ...(info === undefined ? {} : { reason: info.reason, metadata: info.metadata }),
    violations: violations.map(({ field, description }) => ({ field, description })),
    current,
    cause: error,
  });
}
