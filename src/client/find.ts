/**
 * Finding the daemon that runs (daemon.md D4), or the one that `client.url` names (D5). Nothing is started.
 *
 * | `daemon.json` names | it counts as ours when | we send |
 * | --- | --- | --- |
 * | a socket | this user owns the socket file, and `/livez` names the instance | no token, unless one was given |
 * | a url | `/livez` names the instance and proves that it has the operator token | the operator token, unless another was given |
 * | a url, run without tokens | `/livez` names the instance | no token, unless one was given |
 *
 * A socket is preferred. What answers otherwise is a stranger at a re-used address and gets nothing; or it is
 * a daemon of ours that has yet to describe itself, and what the file says is of the one before it.
 */
import { lstatSync } from "node:fs";
import type { Transport } from "@connectrpc/connect";
import { type Discovery, readDiscovery } from "../config/discovery.js";
import { currentUserId } from "../config/env.js";
import type { Config } from "../config/load.js";
import { challengeHeader, createChallenge, instanceHeader, isProof, proofHeader } from "../config/proof.js";
import { readOperatorToken, readTokenFile } from "../config/token.js";
import { isMemorydError } from "../kernel/errors.js";
import { type Answer, type CallOptions, call, type Endpoint, tookTooLong } from "./call.js";
import { createHttpTransport, createSocketTransport } from "./transport.js";
import { noMemoryd, unreachable } from "./unreachable.js";

/** A daemon that was found, with connections of its own; close it when done. */
export type Daemon = Disposable & {
  readonly url: string | undefined;
  /** Set when the calls go over it. */
  readonly socket: string | undefined;
  /** `undefined` for a daemon that was named by `client.url`, as is its version. */
  readonly pid: number | undefined;
  readonly version: string | undefined;
  /** Carries the token and the workspace of the configuration. */
  readonly transport: Transport;
  /** A plain HTTP call with the token, for `/status` and `/stop`. */
  readonly request: (path: string, options?: CallOptions) => Promise<Answer>;
  readonly close: () => void;
};

/** A daemon, or what stood in the way of one: somebody who does not answer, or who is not ours. */
export type Finding =
  | { readonly daemon: Daemon }
  | { readonly daemon: undefined; readonly silent: Discovery | undefined };

type Verdict = "ours" | "not ours" | "silent";

const probeTimeoutMs = 2_000;

/** The token that the configuration gives, for any daemon. */
function givenToken({ client }: Config): string | undefined {
  return client.token ?? (client.tokenFile === undefined ? undefined : readTokenFile(client.tokenFile));
}

/** The operator token; `undefined` where there is none, or none that is fit to be used. */
function operatorTokenIfFit(file: string): string | undefined {
  try {
    return readOperatorToken(file);
  } catch (error) {
    if (isMemorydError(error)) return undefined;
    throw error;
  }
}

/** Somebody else can bind a path that was ours once, but cannot make a file that this user owns. */
function isOwnSocket(socket: string): boolean {
  const status = lstatSync(socket, { throwIfNoEntry: false });
  const userId = currentUserId();
  return status?.isSocket() === true && (userId === undefined || status.uid === userId);
}

async function judge(
  endpoint: Endpoint,
  timeoutMs: number,
  accepts: (answer: Answer, challenge: string) => boolean,
): Promise<Verdict> {
  const challenge = createChallenge();
  try {
    const answer = await call(endpoint, "/livez", { headers: { [challengeHeader]: challenge }, timeoutMs });
    return answer.status === 200 && accepts(answer, challenge) ? "ours" : "not ours";
  } catch (error) {
    return tookTooLong(error) ? "silent" : "not ours";
  }
}

type Attachment = {
  readonly endpoint: Endpoint;
  readonly token: string | undefined;
  readonly workspace: string | undefined;
  readonly pid?: number;
  readonly version?: string;
};

function attach({ endpoint, token, workspace, pid, version }: Attachment): Daemon {
  const transport =
    "socket" in endpoint
      ? createSocketTransport({ ...endpoint, token, workspace })
      : createHttpTransport({ ...endpoint, token, workspace });
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return {
    url: "url" in endpoint ? endpoint.url : undefined,
    socket: "socket" in endpoint ? endpoint.socket : undefined,
    pid,
    version,
    transport,
    request: (path, options = {}) =>
      call(endpoint, path, { ...options, headers: { ...authorization, ...options.headers } }),
    close: transport.close,
    [Symbol.dispose]: transport.close,
  };
}

/** The daemon at `client.url`; `unavailable`, with the cause, when nobody answers there as memoryd does. */
async function attachNamed(config: Config, url: string): Promise<Daemon> {
  const token = givenToken(config);
  const endpoint = { url };
  const answer = await call(endpoint, "/livez", { timeoutMs: probeTimeoutMs }).catch((error: unknown) => {
    throw unreachable(url, error);
  });
  if (answer.status !== 200 || answer.headers[instanceHeader] === undefined) {
    throw noMemoryd(url, answer.status);
  }
  return attach({ endpoint, token, workspace: config.client.workspace });
}

/** As {@link findDaemon}, within `timeoutMs`, and telling what it met. */
export async function seekDaemon(config: Config, timeoutMs = probeTimeoutMs): Promise<Finding> {
  if (config.client.url !== undefined) return { daemon: await attachNamed(config, config.client.url) };
  const discovery = readDiscovery(config.paths.discoveryFile);
  if (discovery === undefined) return { daemon: undefined, silent: undefined };
  const { url, socket, pid, version, instance, withoutToken = false } = discovery;
  const operatorToken = operatorTokenIfFit(config.paths.tokenFile);
  const given = givenToken(config);
  const common = { pid, version, workspace: config.client.workspace };
  const namesInstance = (answer: Answer): boolean => answer.headers[instanceHeader] === instance;
  const proves = (answer: Answer, challenge: string): boolean => {
    const proof = answer.headers[proofHeader];
    return (
      operatorToken !== undefined && typeof proof === "string" && isProof(proof, operatorToken, challenge)
    );
  };
  const verdicts: Verdict[] = [];
  if (socket !== undefined && isOwnSocket(socket)) {
    const endpoint = { socket };
    const verdict = await judge(endpoint, timeoutMs, namesInstance);
    if (verdict === "ours") return { daemon: { ...attach({ ...common, endpoint, token: given }), url } };
    verdicts.push(verdict);
  }
  if (url !== undefined && !verdicts.includes("silent")) {
    const endpoint = { url };
    const verdict = await judge(
      endpoint,
      timeoutMs,
      (...about) => namesInstance(about[0]) && (withoutToken || proves(...about)),
    );
    const token = given ?? (withoutToken ? undefined : operatorToken);
    if (verdict === "ours") return { daemon: attach({ ...common, endpoint, token }) };
    verdicts.push(verdict);
  }
  return { daemon: undefined, silent: verdicts.includes("silent") ? discovery : undefined };
}

/**
 * The running daemon of this configuration, `undefined` when there is none. With `client.url` it is the
 * daemon there, and `unavailable` is thrown when nobody answers.
 */
export async function findDaemon(config: Config): Promise<Daemon | undefined> {
  return (await seekDaemon(config)).daemon;
}
