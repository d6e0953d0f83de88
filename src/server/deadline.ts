/**
 * Deadlines as clients send them (daemon.md D14): read, checked, and for unary calls cut to the daemon's own
 * maximum before the RPC library sees them, since the library can only refuse a longer one.
 *
 * | call | header | becomes |
 * | --- | --- | --- |
 * | any | malformed | refused with `invalid_argument` |
 * | unary | absent, or longer than the maximum | the maximum |
 * | streaming | longer than a timer can wait | what a timer can wait, about 24 days |
 * | streaming | absent | stays absent |
 */
import { Code, type ConnectError } from "@connectrpc/connect";
import { maxUnaryTimeoutMs } from "../kernel/limits.js";
import { type Protocol, refusal } from "./failure.js";

const longestTimerMs = 2 ** 31 - 1;

const unitMs: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};

const headerNames: Readonly<Record<Protocol, string>> = {
  connect: "connect-timeout-ms",
  "connect-stream": "connect-timeout-ms",
  grpc: "grpc-timeout",
  "grpc-web": "grpc-timeout",
};

function timeoutMsFrom(text: string, name: string): number | undefined {
  if (name === "connect-timeout-ms") return /^\d{1,10}$/.test(text) ? Number(text) : undefined;
  const [, amount, unit] = /^(\d{1,8})([HMSmun])$/.exec(text) ?? [];
  const factor = unit === undefined ? undefined : unitMs[unit];
  return factor === undefined ? undefined : Number(amount) * factor;
}

export const malformedDeadline = (name: string): ConnectError =>
  refusal(
    Code.InvalidArgument,
    "DEADLINE_MALFORMED",
    name === "grpc-timeout"
      ? "The header grpc-timeout must be 1 to 8 digits and one of the units H, M, S, m, u and n."
      : "The header Connect-Timeout-Ms must be 1 to 10 digits, in milliseconds.",
  );

/**
 * Rewrites the deadline in `header` and answers it in milliseconds; `undefined` when there is none. Throws
 * when it is malformed.
 */
export function limitDeadline(header: Headers, protocol: Protocol, isUnary: boolean): number | undefined {
  const name = headerNames[protocol];
  const text = header.get(name);
  const asked = text === null ? undefined : timeoutMsFrom(text, name);
  if (text !== null && asked === undefined) throw malformedDeadline(name);
  const longest = isUnary ? maxUnaryTimeoutMs : longestTimerMs;
  if (asked === undefined && !isUnary) return undefined;
  if (asked !== undefined && asked <= longest) return asked;
  header.set(name, name === "grpc-timeout" ? `${Math.floor(longest / 1_000)}S` : String(longest));
  return longest;
}
