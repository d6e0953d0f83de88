/**
 * Which requests from the network are looked at at all (daemon.md D18, D19): pure, one decision a function.
 *
 * | header | value | decision |
 * | --- | --- | --- |
 * | Host | absent, or no legal `name[:port]` | refused (400) |
 * | | a loopback name or address, or listed in `--allow-host` | pass |
 * | | any other | refused (403): a page that rebinds its name to this machine still sends its own name |
 * | Origin | absent | pass: no browser, or a page's own GET |
 * | | the page that this very Host served, or listed in `--allow-origin` | pass, and named in the answer |
 * | | `null`, malformed, any other | refused (403) |
 */
import { cors } from "@connectrpc/connect";
import { isLoopbackHost } from "../config/hosts.js";
import { invalidArgument, MemorydError } from "../kernel/errors.js";

/** A Host header in canonical spelling. */
export type Authority = { readonly host: string; readonly port: string };

/** What a Host header says; `undefined` when it is none. A default port counts as not written. */
export function authorityFrom(text: string | undefined): Authority | undefined {
  if (text === undefined || !/^(?:\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i.test(text)) return undefined;
  if (!URL.canParse(`http://${text}`)) return undefined;
  const { hostname, port } = new URL(`http://${text}`);
  return { host: hostname.replace(/\.$/, ""), port };
}

const maxKnownHosts = 64;

/** {@link assertHost} that remembers the few Hosts that it let pass, because every request of a client has the same. */
export function createHostGuard(allowHost: readonly string[]): (text: string | undefined) => Authority {
  const known = new Map<string, Authority>();
  return (text) => {
    const before = text === undefined ? undefined : known.get(text);
    if (before !== undefined) return before;
    const authority = assertHost(text, allowHost);
    if (known.size >= maxKnownHosts) known.clear();
    if (text !== undefined) known.set(text, authority);
    return authority;
  };
}

/** Throws when the Host that a request names is none that this daemon answers to. */
export function assertHost(text: string | undefined, allowHost: readonly string[]): Authority {
  const authority = authorityFrom(text);
  if (authority === undefined) {
    throw invalidArgument([{ field: "Host", description: "is missing or malformed" }], "HOST_MALFORMED");
  }
  const bare = authority.host.replace(/^\[|\]$/g, "");
  if (isLoopbackHost(authority.host) || allowHost.includes(bare)) return authority;
  throw new MemorydError(
    "permission_denied",
    "This daemon does not answer to the name in the Host header; use 127.0.0.1, or start it with --allow-host.",
    { reason: "HOST_FOREIGN" },
  );
}

export type OriginRules = {
  readonly allowOrigin: readonly string[];
  /** The schemes under which this daemon's own page may be open. */
  readonly schemes: readonly ("http" | "https")[];
};

/** The exact origin to name in the answer, `undefined` when the request has none. Throws for all others. */
export function originOf(text: string | undefined, own: Authority, rules: OriginRules): string | undefined {
  if (text === undefined) return undefined;
  if (URL.canParse(text)) {
    const url = new URL(text);
    const isPlain = url.origin === text;
    const isOwn =
      rules.schemes.some((scheme) => url.protocol === `${scheme}:`) &&
      url.hostname === own.host &&
      url.port === own.port;
    if (isPlain && (isOwn || rules.allowOrigin.includes(url.origin))) return url.origin;
  }
  throw new MemorydError(
    "permission_denied",
    "Pages of this origin may not call this daemon; start it with --allow-origin to let them.",
    { reason: "ORIGIN_FOREIGN" },
  );
}

/** What a browser is told about requests from another, allowed origin. */
export type CorsRules = {
  readonly allowedHeaders: readonly string[];
  readonly exposedHeaders: readonly string[];
};

const preflightMaxAgeSeconds = 7_200;
const ownRequestHeaders = ["authorization", "x-request-id"];
const ownResponseHeaders = ["x-request-id", "www-authenticate"];

/** On every answer to an allowed origin; never `*`, and never with credentials: tokens go in a header. */
export const corsHeaders = (origin: string, rules: CorsRules): Readonly<Record<string, string>> => ({
  "access-control-allow-origin": origin,
  "access-control-expose-headers": [
    ...cors.exposedHeaders,
    ...ownResponseHeaders,
    ...rules.exposedHeaders,
  ].join(", "),
});

/** On the answer to a preflight; `asksForLocalNetwork` is a page of the internet that asks for this machine. */
export const preflightHeaders = (
  rules: CorsRules,
  asksForLocalNetwork: boolean,
): Readonly<Record<string, string>> => ({
  "access-control-allow-methods": cors.allowedMethods.join(", "),
  "access-control-allow-headers": [
    ...cors.allowedHeaders,
    ...ownRequestHeaders,
    ...rules.allowedHeaders,
  ].join(", "),
  "access-control-max-age": String(preflightMaxAgeSeconds),
  ...(asksForLocalNetwork ? { "access-control-allow-private-network": "true" } : {}),
});
