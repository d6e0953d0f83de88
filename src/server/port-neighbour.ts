/**
 * Whether a daemon of memoryd answers at an address that could not be bound, so that "port taken" can say so
 * (daemon.md D3). It is asked like anybody may ask it, and given nothing.
 */
import { get } from "node:http";
import { instanceHeader } from "../config/proof.js";

const answerTimeoutMs = 1_000;

/** Resolves with `false` when somebody else, or nobody in time, answers; never rejects. */
export function isMemorydAt(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(answerTimeoutMs);
    const request = get({ host, port, path: "/livez", agent: false, signal }, (response) => {
      resolve(response.headers[instanceHeader] !== undefined);
      response.destroy();
    });
    request.once("error", () => resolve(false));
  });
}
