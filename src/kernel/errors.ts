/**
 * The closed list of error codes, and the one error class that carries them (design section 3).
 *
 * A message is one sentence that names the field or thing and says what to do. It never quotes stored
 * content, a token or a path of the server's disk. The `cause` is for the log and is never sent.
 * How a code looks at a door is in `wire/errors.ts`; how it ends a command, in `cli/exit-codes.ts`.
 */

export const errorCodes = [
  "invalid_argument",
  "not_found",
  "already_exists",
  "version_conflict",
  "failed_precondition",
  "resource_exhausted",
  "unauthenticated",
  "permission_denied",
  "unavailable",
  "internal",
] as const;

export type ErrorCode = (typeof errorCodes)[number];

/** One faulty field: its path as the caller wrote it, and the rule it breaks (never its text). */
export type FieldViolation = { readonly field: string; readonly description: string };

/** At most so many violations are answered (memory.md, *Refused*). */
export const maxViolations = 16;

export type MemorydErrorOptions = {
  /** Upper-case word that a program can act on; answered as `google.rpc.ErrorInfo.reason`. */
  readonly reason?: string;
  readonly violations?: readonly FieldViolation[];
  /** Answered as `google.rpc.ErrorInfo.metadata`. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** What is stored now, as the domain's own model value; only with `version_conflict`. */
  readonly current?: unknown;
  /** The underlying fault, logged and never sent. */
  readonly cause?: unknown;
};

export class MemorydError extends Error {
  override readonly name = "MemorydError";
  readonly code: ErrorCode;
  readonly reason: string;
  readonly violations: readonly FieldViolation[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly current: unknown;

  constructor(code: ErrorCode, message: string, options: MemorydErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.reason = options.reason ?? code.toUpperCase();
    this.violations = options.violations ?? [];
    this.metadata = options.metadata ?? {};
    this.current = options.current;
  }
}

export const isMemorydError = (value: unknown): value is MemorydError => value instanceof MemorydError;

/** `invalid_argument` for one or more faulty fields, at most {@link maxViolations} of them, in field order. */
export function invalidArgument(
  violations: readonly FieldViolation[],
  reason = "INVALID_ARGUMENT",
): MemorydError {
  const shown = violations.slice(0, maxViolations);
  const text = shown.map((violation) => `${violation.field} ${violation.description}`).join("; ");
  return new MemorydError("invalid_argument", `${text}.`, { reason, violations: shown });
}
