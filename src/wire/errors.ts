/**
 * How an error looks on a wire: one table a wire (design section 3), and the making of Connect errors.
 *
 * Every error carries `google.rpc.ErrorInfo`; refused fields come as `google.rpc.BadRequest`. What is not
 * a {@link MemorydError} is `internal` with a fixed text, because its own text may quote anything.
 */

import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import { type ErrorCode, isMemorydError, MemorydError } from "../kernel/errors.js";

export const errorDomain = "memoryd";

export const connectCodes: Readonly<Record<ErrorCode, Code>> = {
  invalid_argument: Code.InvalidArgument,
  not_found: Code.NotFound,
  already_exists: Code.AlreadyExists,
  version_conflict: Code.Aborted,
  failed_precondition: Code.FailedPrecondition,
  resource_exhausted: Code.ResourceExhausted,
  unauthenticated: Code.Unauthenticated,
  permission_denied: Code.PermissionDenied,
  unavailable: Code.Unavailable,
  internal: Code.Internal,
};

export const httpStatuses: Readonly<Record<ErrorCode, number>> = {
  invalid_argument: 422,
  not_found: 404,
  already_exists: 409,
  version_conflict: 409,
  failed_precondition: 412,
  resource_exhausted: 429,
  unauthenticated: 401,
  permission_denied: 403,
  unavailable: 503,
  internal: 500,
};

/** A further error detail, such as the `WriteConflict` of a version conflict. */
export type ErrorDetail = { readonly desc: DescMessage; readonly value: MessageInitShape<DescMessage> };

const hidden = new MemorydError(
  "internal",
  "Something went wrong inside memoryd; the daemon's log has the cause.",
);

/** The error as every Connect, gRPC and gRPC-Web client sees it; `details` follow ErrorInfo and BadRequest. */
export function connectErrorFrom(error: unknown, details: readonly ErrorDetail[] = []): ConnectError {
  if (error instanceof ConnectError) return error;
  const shown = isMemorydError(error) ? error : hidden;
  const outgoing: ErrorDetail[] = [
    {
      desc: ErrorInfoSchema,
      value: { reason: shown.reason, domain: errorDomain, metadata: { ...shown.metadata } },
    },
  ];
  if (shown.violations.length > 0) {
    outgoing.push({
      desc: BadRequestSchema,
      value: { fieldViolations: shown.violations.map(({ field, description }) => ({ field, description })) },
    });
  }
  return new ConnectError(
    shown.message,
    connectCodes[shown.code],
    undefined,
    [...outgoing, ...details],
    error,
  );
}
