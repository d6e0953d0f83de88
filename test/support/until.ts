/** Waiting for something without timing: asked again and again until it holds, or the deadline says it never will. */
import { setTimeout as sleep } from "node:timers/promises";

/** What `ask` answers once that is neither `undefined` nor `false`; throws with `what` after `timeoutMs`. */
export async function until<Value>(
  what: string,
  ask: () => Value | undefined | false | Promise<Value | undefined | false>,
  timeoutMs = 20_000,
): Promise<Value> {
  for (const deadline = performance.now() + timeoutMs; performance.now() < deadline; await sleep(10)) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
  }
  throw new Error(`waited ${timeoutMs} ms in vain until ${what}`);
}
