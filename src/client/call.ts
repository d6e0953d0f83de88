/**
 * Plain HTTP calls to a daemon, for what is no RPC: `/livez`, `/status`, `/stop`. No redirects are followed,
 * because they could carry a token to somebody else.
 */
import * as http from "node:http";
import * as https from "node:https";

/** Where a daemon listens: a unix socket, or an address such as `http://127.0.0.1:7411`. */
export type Endpoint = { readonly socket: string } | { readonly url: string };

export type CallOptions = {
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
};

export type Answer = {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
};

/** Stands for the host where a socket has none. */
export const socketBaseUrl = "http://localhost";

const defaultTimeoutMs = 10_000;
/** More than any of these answers needs. */
const maxBodyBytes = 4 * 1024 * 1024;

/** Rejects with Node's own error when nobody answers, and with a `TimeoutError` when it takes too long. */
export function call(endpoint: Endpoint, path: string, options: CallOptions = {}): Promise<Answer> {
  const { method = "GET", headers = {}, timeoutMs = defaultTimeoutMs } = options;
  const base = "socket" in endpoint ? socketBaseUrl : endpoint.url;
  const url = new URL(`${base}${path}`);
  const send = url.protocol === "https:" ? https.request : http.request;
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => reject(error.name === "AbortError" ? (error.cause ?? error) : error);
    const request = send(url, {
      method,
      headers,
      // One connection for one call, so that a program that is done is not kept waiting for an idle one.
      agent: false,
      signal: AbortSignal.timeout(timeoutMs),
      ...("socket" in endpoint ? { socketPath: endpoint.socket } : {}),
    });
    request.on("error", fail);
    request.on("response", (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on("error", fail);
      response.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        size += chunk.length;
        if (size > maxBodyBytes) response.destroy(new Error("the answer is too large"));
      });
      response.on("end", () => {
        const body = Buffer.concat(chunks).toString("utf8");
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
      });
    });
    request.end();
  });
}

/** The codes in an error and in its causes, outermost first. */
export function errorCodesOf(error: unknown): readonly string[] {
  const codes: string[] = [];
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth += 1) {
    if ("code" in at && typeof at.code === "string") codes.push(at.code);
    // Node tries every address of a name, and reports them together.
    if (at instanceof AggregateError) codes.push(...at.errors.flatMap(errorCodesOf));
  }
  return codes;
}

/** Whether nobody was there to receive the call, so that it cannot have had an effect and may be repeated. */
export const neverArrived = (error: unknown): boolean =>
  errorCodesOf(error).some((code) => code === "ECONNREFUSED" || code === "ENOENT");

const brokenConnection =
  /^(?:ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|ERR_STREAM_(?:PREMATURE_CLOSE|DESTROYED|WRITE_AFTER_END)|ERR_HTTP2_\w+)$/;

/** Whether the connection broke while the call was on it, so that it may have had its effect. */
export const brokeOff = (error: unknown): boolean =>
  errorCodesOf(error).some((code) => brokenConnection.test(code));

/** Whether somebody was there and did not answer in time. */
export const tookTooLong = (error: unknown): boolean =>
  error instanceof Error && error.name === "TimeoutError";
