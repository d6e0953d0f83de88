/**
 * The interceptor that stands around every RPC handler: it ends a call at its deadline, turns what a
 * handler threw into an error of the wire, logs the cause of what is hidden, and notes the outcome for the
 * server to count. What the library refuses before a handler runs never passes here.
 */
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import type { Log } from "../kernel/log.js";
import { type Outcome, outcomeKey, requestIdKey } from "./context.js";
import { connectErrorFrom } from "./errors.js";

/** The snake_case name of a Connect code, as the wire and the metrics spell it. */
export const codeName = (code: Code): string =>
  (Code[code] ?? "Unknown").replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase();

/** Settles like `call`, or rejects with the signal's reason as soon as it aborts. */
function untilAborted<T>(call: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    call.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** Wraps every call of a router; `log` gets one error line for each failure that clients only see as internal. */
export function createCallInterceptor(log: Log): Interceptor {
  const failure = (error: unknown, method: string, requestId: string, outcome: Outcome | undefined) => {
    const shown = connectErrorFrom(error);
    if (outcome !== undefined) outcome.code = codeName(shown.code);
    if (shown.code === Code.Internal) {
      log.error({ requestId, method, error: shown.cause ?? error }, "a call failed for a reason of our own");
    }
    return shown;
  };
  return (next) => async (request) => {
    const method = `${request.service.typeName}/${request.method.name}`;
    const outcome = request.contextValues.get(outcomeKey);
    const requestId = request.contextValues.get(requestIdKey);
    try {
      const response = await untilAborted(next(request), request.signal);
      if (!response.stream) {
        if (outcome !== undefined) outcome.code = "ok";
        return response;
      }
      const messages = response.message;
      return {
        ...response,
        message: (async function* () {
          try {
            yield* messages;
            if (outcome !== undefined) outcome.code = "ok";
          } catch (error) {
            throw failure(error, method, requestId, outcome);
          }
        })(),
      };
    } catch (error) {
      throw failure(error instanceof Error ? error : ConnectError.from(error), method, requestId, outcome);
    }
  };
}
