/** The one home of chance: identifiers and secrets from the system's cryptographic source. */
import { randomBytes } from "node:crypto";

/** `byteCount` random bytes as lower-case hex, twice as many characters. */
export const randomHex = (byteCount: number): string => randomBytes(byteCount).toString("hex");

/** `byteCount` random bytes as base64url without padding. */
export const randomBase64Url = (byteCount: number): string => randomBytes(byteCount).toString("base64url");

/** A number from 0 (included) to 1 (excluded), for spreading retries; not for secrets. */
export const jitter = (): number => randomBytes(4).readUInt32BE() / 2 ** 32;
