/**
 * Page tokens: opaque text that holds where the page before ended and a hash of what was asked, so that a
 * token outlives restarts, works on another daemon and is refused with other parameters (design section 2,
 * memory.md M32). It is a place, not a secret: a forged one shows nothing that the call would not show.
 */
import { createHash } from "node:crypto";
import { invalidArgument } from "./errors.js";
import { maxPageTokenBytes } from "./limits.js";
import { byteLength } from "./utf8.js";

const version = "1";
const hashCharacters = 16;

/** Hash of the method and the parameters that must not change from page to page; their order counts. */
export function pageParametersHash(parameters: readonly string[]): string {
  const hash = createHash("sha256");
  for (const parameter of parameters) hash.update(`${byteLength(parameter)}:${parameter}`);
  return hash.digest("hex").slice(0, hashCharacters);
}

/** The token of the page that starts after the key `after`. */
export const pageTokenFromKey = (after: string, parametersHash: string): string =>
  Buffer.from(`${version}${parametersHash}${after}`, "utf8").toString("base64url");

/**
 * The key that the page starts after; `undefined` for the empty token, which asks for the first page.
 * Throws `invalid_argument` (reason INVALID_PAGE_TOKEN) for anything that `pageTokenFromKey` did not make
 * for the same parameters.
 */
export function keyFromPageToken(token: string, parametersHash: string): string | undefined {
  if (token === "") return undefined;
  const refused = (description: string): never => {
    throw invalidArgument([{ field: "page_token", description }], "INVALID_PAGE_TOKEN");
  };
  if (byteLength(token) > maxPageTokenBytes) refused(`is over ${maxPageTokenBytes} bytes`);
  const bytes = Buffer.from(token, "base64url");
  const text = bytes.toString("utf8");
  const isOurs = text.startsWith(version) && bytes.toString("base64url") === token;
  if (!isOurs || !Buffer.from(text, "utf8").equals(bytes))
    refused("is not a token of this daemon; leave it empty to start again");
  if (text.slice(1, 1 + hashCharacters) !== parametersHash)
    refused("belongs to a call with other parameters; leave it empty to start again");
  return text.slice(1 + hashCharacters);
}
