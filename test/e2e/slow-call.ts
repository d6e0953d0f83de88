/** A call that is under way for as long as a test wants: the daemon has its head and waits for its body. */
import { once } from "node:events";
import * as http from "node:http";
import type { Daemon } from "../support/daemon.js";
import { service } from "./door.js";

export type SlowCall = {
  /** Sends the body and answers what the daemon does. */
  readonly finish: () => Promise<{ readonly status: number | undefined; readonly body: string }>;
  /** Resolves once the connection is gone, with what was answered before that. */
  readonly closed: Promise<string>;
};

/** Begins an UpdateCursor; resolves when the daemon has said that it waits for the body. */
export async function beginSlowCall({ url, token }: Daemon, content = "slow but sure"): Promise<SlowCall> {
  const body = JSON.stringify({ content });
  const request = http.request(`${url}/${service}/UpdateCursor`, {
    method: "POST",
    agent: false,
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "content-length": body.length,
      expect: "100-continue",
    },
  });
  let answered = "";
  const responded = once(request, "response") as Promise<[http.IncomingMessage]>;
  const whole = responded.then(async ([response]) => {
    for await (const chunk of response.setEncoding("utf8")) answered += chunk;
    return { status: response.statusCode, body: answered };
  });
  whole.catch(() => {});
  const closed = new Promise<string>((resolve) => request.once("close", () => resolve(answered)));
  request.on("error", () => {});
  request.flushHeaders();
  await once(request, "continue");
  return {
    closed,
    finish: () => {
      request.end(body);
      return whole;
    },
  };
}
