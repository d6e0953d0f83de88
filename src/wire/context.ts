/**
 * What the server hands to the handlers of one request beside its message: who asks, the request's id, and
 * a place for the outcome that the server counts. In process nobody sets them, and the defaults apply.
 */
import { type ContextKey, createContextKey } from "@connectrpc/connect";
import type { Caller } from "../kernel/caller.js";

/** Who is asking; absent means that no guard stood in front of the call, as in process. */
export const callerKey: ContextKey<Caller | undefined> = createContextKey<Caller | undefined>(undefined, {
  description: "caller",
});

/** The request's id, as answered in `x-request-id`; empty in process. */
export const requestIdKey: ContextKey<string> = createContextKey("", { description: "request id" });

/** How the call ended: `ok` or the Connect code's name, written once the handler is done. */
export type Outcome = { code: string };

/** Where the outcome is written; absent in process. */
export const outcomeKey: ContextKey<Outcome | undefined> = createContextKey<Outcome | undefined>(undefined, {
  description: "outcome",
});
