/** Ctrl-C, and the signal that a supervisor sends, as an end that a command brings about itself. */

export type Interrupt = Disposable & {
  /** Aborts at the first of them; a second one ends the process as it always does. */
  readonly signal: AbortSignal;
};

const signals = ["SIGINT", "SIGTERM"] as const;

/** Listens until it is disposed of. */
export function listenForInterrupt(): Interrupt {
  const controller = new AbortController();
  const forget = (): void => {
    for (const signal of signals) process.off(signal, onSignal);
  };
  const onSignal = (): void => {
    forget();
    controller.abort();
  };
  for (const signal of signals) process.on(signal, onSignal);
  return { signal: controller.signal, [Symbol.dispose]: forget };
}

/** What a shell makes of a program that Ctrl-C ended. */
export const interruptedCode = 130;
