/**
 * The interceptor that stands around every RPC handler: it ends a call at its deadline, turns what a
 * handler threw into an error of the wire, logs the cause of what is hidden, and notes the outcome for the
 * server to count. What the library refuses before a handler runs never passes here.
 */
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { isMemorydError } from "../kernel/errors.js";
import type { Log } from "../kernel/log.js";
import { outcomeKey, requestIdKey } from "./context.js";
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

/** A call that was broken off ends as what broke it: its deadline, a stop, or a caller who has gone. */
const endOf = (error: unknown, signal: AbortSignal): ConnectError =>
  signal.aborted && error === signal.reason
    ? ConnectError.from(error, Code.Canceled)
    : connectErrorFrom(error);

const hasCause = (error: unknown): boolean => isMemorydError(error) && error.cause !== undefined;

/** Wraps every call of a router; `log` gets one error line for each failure whose cause clients do not see. */
export function createCallInterceptor(log: Log): Interceptor {
  return (next) => async (request) => {
    const method = `${request.service.typeName}/${request.method.name}`;
    const outcome = request.contextValues.get(outcomeKey);
    const requestId = request.contextValues.get(requestIdKey);
    const failure = (error: unknown): ConnectError => {
      const shown = endOf(error, request.signal);
      if (outcome !== undefined) outcome.code = codeName(shown.code);
      const thrown = shown.cause ?? error;
      if (shown.code === Code.Internal || hasCause(thrown)) {
        log.error({ requestId, method, error: thrown }, "a call failed for a reason of our own");
      }
      return shown;
    };
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
            throw failure(error);
          }
        })(),
      };
    } catch (error) {
      throw failure(error);
    }
  };
}
