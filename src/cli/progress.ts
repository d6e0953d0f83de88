/** How far a long command is, told on a terminal every two seconds; a quick one says nothing. */
import type { Output } from "./output.js";

const everyMs = 2_000;

/** Call what comes back as often as something was done; `text` is asked for when it is time to say it. */
export function createProgress(
  { isErrorTerminal, note, errorPaint }: Pick<Output, "isErrorTerminal" | "note" | "errorPaint">,
  text: () => string,
  nowMs: () => number = () => performance.now(),
): () => void {
  let toldMs = nowMs();
  return () => {
    if (!isErrorTerminal || nowMs() - toldMs < everyMs) return;
    toldMs = nowMs();
    note(errorPaint.dim(text()));
  };
}
