/**
 * What a watch waits for between two looks at the storage: that something was written, that it has sent nothing
 * for a while, or its end. Holds three flags and no queue, so that any number of writes costs nothing.
 */
import type { Schedule } from "./stall.js";

export type Wakes = {
  /** Something may be there to send; counts until the next look, however often it is called. */
  readonly ring: () => void;
  /** A message was sent: silence counts from now. */
  readonly sent: () => void;
  /** Whoever waits, now or later, is thrown the first reason. */
  readonly end: (reason: unknown) => void;
  readonly throwIfEnded: () => void;
  /** Resolves with what there is to do. */
  readonly next: () => Promise<"look" | "break the silence">;
};

export function createWakes(silenceMs: number, schedule: Schedule): Wakes {
  let isRung = false;
  let isSilent = false;
  let ended: { readonly reason: unknown } | undefined;
  let wake = (): void => {};
  let cancel = (): void => {};

  const throwIfEnded = (): void => {
    if (ended !== undefined) throw ended.reason;
  };

  return {
    ring: () => {
      isRung = true;
      wake();
    },
    sent: () => {
      cancel();
      isSilent = false;
      if (ended !== undefined) return;
      cancel = schedule(() => {
        isSilent = true;
        wake();
      }, silenceMs);
    },
    end: (reason) => {
      ended ??= { reason };
      cancel();
      wake();
    },
    throwIfEnded,
    next: async () => {
      for (;;) {
        throwIfEnded();
        if (isRung) {
          isRung = false;
          return "look";
        }
        if (isSilent) {
          isSilent = false;
          return "break the silence";
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
