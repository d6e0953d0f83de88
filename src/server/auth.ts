/**
 * Who is asking, told by the bearer token alone (daemon.md D20, D21, D23). Tokens are compared by hash in
 * constant time. What is missing, malformed or wrong looks the same from outside; only repeated wrong
 * tokens from one address are answered ever more slowly, without slowing anybody who has a good one.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { isChallenge, proofFrom } from "../config/proof.js";
import type { Caller } from "../kernel/caller.js";
import { MemorydError } from "../kernel/errors.js";

export type AuthOptions = {
  readonly operator: Caller;
  /** Absent only with `--insecure-no-auth`. */
  readonly operatorToken: string | undefined;
  /** Milliseconds that only go forward. */
  readonly nowMs?: () => number;
};

export type Credentials = {
  /** The `Authorization` header, if one was sent. */
  readonly authorization: string | undefined;
  /** Whether the door itself is proof enough, as the socket is, when no token is sent. */
  readonly isTrusted: boolean;
  /** Where the request comes from; bad tokens are counted by it. */
  readonly address: string;
};

export type Authentication = {
  /** `undefined` for nobody, to be answered with {@link unauthenticated} after `delayMs`. */
  readonly caller: Caller | undefined;
  readonly delayMs: number;
};

const letIn = (caller: Caller): Authentication => ({ caller, delayMs: 0 });

export type Authenticator = {
  readonly authenticate: (credentials: Credentials) => Authentication;
  /** Proves that this daemon knows the token (D4); `undefined` without a token, or for what is no challenge. */
  readonly proofOf: (challenge: string) => string | undefined;
};

const freeFailures = 5;
const firstDelayMs = 100;
const longestDelayMs = 3_000;
const forgetAfterMs = 60_000;
const maxAddresses = 1_000;

export const authenticateHeader = 'Bearer realm="memoryd"';

export const unauthenticated = (): MemorydError =>
  new MemorydError(
    "unauthenticated",
    "Send a valid token as Authorization: Bearer …; memoryd token show prints the operator's.",
  );

const digest = (text: string): Buffer => createHash("sha256").update(text, "utf8").digest();

export function createAuthenticator(options: AuthOptions): Authenticator {
  const { operator, operatorToken, nowMs = () => performance.now() } = options;
  const operatorDigest = operatorToken === undefined ? undefined : digest(operatorToken);
  const failures = createFailureCounter(nowMs);

  const isOperatorToken = (token: string): boolean =>
    operatorDigest !== undefined && timingSafeEqual(digest(token), operatorDigest);

  return {
    authenticate: ({ authorization, isTrusted, address }) => {
      if (operatorDigest === undefined || (isTrusted && authorization === undefined)) return letIn(operator);
      const token = /^Bearer +([^\s]+) *$/i.exec(authorization ?? "")?.[1];
      if (token !== undefined && isOperatorToken(token)) return letIn(operator);
      return { caller: undefined, delayMs: authorization === undefined ? 0 : failures.add(address) };
    },
    proofOf: (challenge) =>
      operatorToken === undefined || !isChallenge(challenge)
        ? undefined
        : proofFrom(operatorToken, challenge),
  };
}

/** Counts bad tokens by address, in bounded memory: the address that was quiet longest is forgotten first. */
function createFailureCounter(nowMs: () => number): { add: (address: string) => number } {
  const byAddress = new Map<string, { count: number; lastMs: number }>();
  return {
    /** Notes one more, and says how long its answer has to wait. */
    add: (address) => {
      const now = nowMs();
      const before = byAddress.get(address);
      const isRecent = before !== undefined && now - before.lastMs < forgetAfterMs;
      const count = isRecent ? before.count + 1 : 1;
      byAddress.delete(address);
      byAddress.set(address, { count, lastMs: now });
      const oldest = byAddress.keys().next().value;
      if (byAddress.size > maxAddresses && oldest !== undefined) byAddress.delete(oldest);
      if (count <= freeFailures) return 0;
      return Math.min(firstDelayMs * 2 ** Math.min(count - freeFailures - 1, 10), longestDelayMs);
    },
  };
}
