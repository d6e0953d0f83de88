/** What the server knows about one request while it is answered: its id, who asks, what to count it as. */

import type { Caller } from "../kernel/caller.js";
import { randomHex } from "../kernel/ids.js";
import type { Outcome } from "../wire/context.js";
import type { Door } from "./doors.js";
import type { RpcSpan } from "./tracing.js";

export type Exchange = {
  readonly requestId: string;
  readonly door: Door;
  readonly startedMs: number;
  /** What it is counted as: a method or a route that exists, or {@link unknownLabel}; never a path as sent. */
  label: string;
  caller: Caller | undefined;
  /** Set when traces are written and it is an RPC. */
  span: RpcSpan | undefined;
  /** How it ended; empty until somebody knows. */
  readonly outcome: Outcome;
};

export const unknownLabel = "unknown";
export const requestIdHeader = "x-request-id";

/** Chance once a process and then a count: chance for every request costs more than guarding it. */
const processPart = randomHex(4);
let requests = 0;

function nextRequestId(): string {
  requests = (requests + 1) % 2 ** 32;
  return `${processPart}${requests.toString(16).padStart(8, "0")}`;
}

/** The client's own id when it is short and plain enough for a log line, else a new one. */
const requestIdFrom = (sent: string | undefined): string =>
  sent !== undefined && /^[A-Za-z0-9._:-]{1,64}$/.test(sent) ? sent : nextRequestId();

export const createExchange = (door: Door, sentRequestId: string | undefined): Exchange => ({
  requestId: requestIdFrom(sentRequestId),
  door,
  startedMs: performance.now(),
  label: unknownLabel,
  caller: undefined,
  span: undefined,
  outcome: { code: "" },
});
