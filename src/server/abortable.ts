/** Reading from an async iterable only until a signal aborts, whatever the iterable itself is waiting for. */

/** What `source` gives; throws the signal's reason as soon as it aborts, and lets go of `source` then. */
export async function* untilAborted<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = source[Symbol.asyncIterator]();
  // One listener with a slot for the step in progress: racing each step against one long-lived promise
  // would keep every step's memory until the stream ends.
  let interrupt: ((reason: unknown) => void) | undefined;
  const onAbort = (): void => interrupt?.(signal.reason);
  signal.addEventListener("abort", onAbort);
  const step = (): Promise<IteratorResult<T>> =>
    new Promise((resolve, reject) => {
      if (signal.aborted) reject(signal.reason);
      interrupt = reject;
      iterator.next().then(resolve, reject);
    });
  try {
    for (let result = await step(); result.done !== true; result = await step()) yield result.value;
  } finally {
    interrupt = undefined;
    signal.removeEventListener("abort", onAbort);
    // Not awaited: a source that is stuck would hold us too, and what it throws now concerns nobody.
    iterator.return?.()?.then(undefined, () => {});
  }
}
