/**
 * How a daemon proves over TCP that it is ours before it is sent a token (daemon.md D4): pids and ports are
 * reused, so whoever answers at the address may be a stranger. Asked with a random challenge, `/livez`
 * answers the hex HMAC-SHA-256, under the operator token, of `memoryd-proof:` and the challenge.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { randomHex } from "../kernel/ids.js";

export const challengeHeader = "memoryd-challenge";
export const proofHeader = "memoryd-proof";
/** In every `/livez` answer: the `instance` of `daemon.json`, which tells a daemon from the one before it. */
export const instanceHeader = "memoryd-instance";

const challengeBytes = 16;
const maxChallengeCharacters = 128;

export const createChallenge = (): string => randomHex(challengeBytes);

/** Whether a request's challenge is one to answer: short and printable. */
export const isChallenge = (text: string): boolean =>
  /^[\x21-\x7e]+$/.test(text) && text.length <= maxChallengeCharacters;

export const proofFrom = (operatorToken: string, challenge: string): string =>
  createHmac("sha256", operatorToken).update(`memoryd-proof:${challenge}`).digest("hex");

/** Compared in constant time; `undefined` is a missing header. */
export function isProof(proof: string | undefined, operatorToken: string, challenge: string): boolean {
  const expected = Buffer.from(proofFrom(operatorToken, challenge));
  const given = Buffer.from(proof ?? "");
  return given.length === expected.length && timingSafeEqual(given, expected);
}
