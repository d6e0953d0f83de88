/** The RPCs in progress, so that a stop can end streams at once and unary calls when their time is up (D7). */
import type { ConnectError } from "@connectrpc/connect";

export type OpenCall = {
  readonly isStream: boolean;
  /** Makes the call end with this error, which its client sees. */
  readonly end: (reason: ConnectError) => void;
};

export type OpenCalls = {
  /** Notes a call; the answer forgets it again. */
  readonly add: (call: OpenCall) => () => void;
  readonly endStreams: (reason: ConnectError) => void;
  readonly endAll: (reason: ConnectError) => void;
};

export function createOpenCalls(): OpenCalls {
  const calls = new Set<OpenCall>();
  const endEach = (reason: ConnectError, isMeant: (call: OpenCall) => boolean): void => {
    for (const call of [...calls]) if (isMeant(call)) call.end(reason);
  };
  return {
    add: (call) => {
      calls.add(call);
      return () => calls.delete(call);
    },
    endStreams: (reason) => endEach(reason, ({ isStream }) => isStream),
    endAll: (reason) => endEach(reason, () => true),
  };
}
