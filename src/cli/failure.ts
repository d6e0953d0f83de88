/**
 * Whatever went wrong, as a person or a program is told of it on stderr: one sentence, or one JSON object, and
 * the exit code. A stack trace is never shown; a fault of our own names its error, so that it can be reported.
 */
import type { CommanderError } from "commander";
import { isMemorydError, MemorydError } from "../kernel/errors.js";
import { exitCodes } from "./exit-codes.js";
import { jsonFor, type Output } from "./output.js";
import { visibleLine } from "./visible.js";

/** What a person is shown below the sentence of an error whose `current` is one of these. */
export type Shown = {
  /** Lines for a terminal. */
  readonly lines: string;
  /** The member `current` of the JSON object. */
  readonly json: unknown;
};

export const isShown = (value: unknown): value is Shown =>
  typeof value === "object" && value !== null && "lines" in value && "json" in value;

const nameOf = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : `thrown: ${String(error)}`;

const nobodyAnswers = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ENOTFOUND",
  "ETIMEDOUT",
  "EHOSTUNREACH",
]);

/** What the system refused: a file, or a connection that broke; `undefined` for anything else. */
function systemFailure(error: Error & { code?: unknown; path?: unknown }): MemorydError | undefined {
  const { code, path } = error;
  if (error.name === "TimeoutError" || (typeof code === "string" && nobodyAnswers.has(code))) {
    return new MemorydError(
      "unavailable",
      "The daemon does not answer any more; memoryd doctor finds out why.",
      {
        reason: "DAEMON_SILENT",
        cause: error,
      },
    );
  }
  if (typeof code !== "string" || typeof path !== "string") return undefined;
  return new MemorydError(
    "failed_precondition",
    `${path} cannot be used (${code}); see that it and its folder are yours to read and write.`,
    { reason: "FILE_NOT_USABLE", cause: error },
  );
}

/** The error itself when it is ours; what is neither ours nor the system's is a fault of memoryd. */
export function memorydErrorFrom(error: unknown): MemorydError {
  if (isMemorydError(error)) return error;
  const system = error instanceof Error ? systemFailure(error) : undefined;
  if (system !== undefined) return system;
  return new MemorydError(
    "internal",
    `This is a fault of memoryd itself (${nameOf(error)}); report it with the command that you ran.`,
    { cause: error },
  );
}

/** A sentence that ends the parser's words with where to look; `known` is the flag that stands elsewhere. */
export function usageError(outcome: CommanderError, path: string): MemorydError {
  const [first = "", suggestion = ""] = outcome.message.replace(/^error: /, "").split("\n");
  const what = `${first.charAt(0).toUpperCase()}${first.slice(1)}`.replace(/\.$/, "");
  const hint = /^\((Did you mean .*)\)$/.exec(suggestion)?.[1];
  const meant = hint === undefined ? "" : ` (${hint.charAt(0).toLowerCase()}${hint.slice(1)})`;
  return new MemorydError(
    "invalid_argument",
    `${visibleLine(`${what}${meant}`)}; ${path} --help shows what there is.`,
    {
      reason: "USAGE",
    },
  );
}

/** Tells of a fault that does not keep the command from its work. */
export function reportWarning(output: Output, { message, violations }: MemorydError, isJson: boolean): void {
  if (isJson) output.note(jsonFor(output.isErrorTerminal, { warning: { message, violations } }));
  else output.note(`${output.errorPaint.yellow("memoryd: warning:")} ${visibleLine(message)}`);
}

const letIn =
  "The daemon asks for a token, and there is none or not the right one; give it in a file with --token-file, or in MEMORYD_TOKEN.";

/** Prints the error and answers the exit code that it means. */
export function reportFailure(output: Output, thrown: unknown, isJson: boolean): number {
  const error = memorydErrorFrom(thrown);
  const { code, reason, violations, current } = error;
  const message = code === "unauthenticated" ? letIn : error.message;
  const nearest = error.metadata.nearest?.split(",").filter((name) => name !== "") ?? [];
  if (isJson) {
    const shown = isShown(current) ? { current: current.json } : {};
    const extra = {
      ...(violations.length === 0 ? {} : { violations }),
      ...(nearest.length === 0 ? {} : { nearest }),
      ...shown,
    };
    output.note(jsonFor(output.isErrorTerminal, { error: { code, reason, message, ...extra } }));
    return exitCodes[code];
  }
  const meant = nearest.length === 0 ? "" : ` Perhaps you mean ${nearest.join(" or ")}.`;
  output.note(`${output.errorPaint.red("memoryd:")} ${visibleLine(message)}${meant}`);
  if (isShown(current)) output.note(current.lines);
  return exitCodes[code];
}
