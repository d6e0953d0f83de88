/**
 * Why nobody was found at `client.url` (daemon.md D5): one sentence for each cause, told by Node's code and by
 * what was answered, and what to do about it.
 */
import { MemorydError } from "../kernel/errors.js";
import { errorCodesOf, tookTooLong } from "./call.js";

const options = "MEMORYD_URL or --url";

type Cause = { readonly codes: RegExp; readonly say: (url: string) => string };

const withScheme = (url: string, scheme: string): string => url.replace(/^https?/, scheme);

/** The first that fits counts: a reset means TLS only where none was spoken. */
const causes: readonly Cause[] = [
  {
    codes: /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+|CERT_UNTRUSTED)$/,
    say: () =>
      `its certificate is not one that Node trusts; if it is yours, name its file in NODE_EXTRA_CA_CERTS.`,
  },
  {
    codes: /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    say: () => `its certificate is for another host name; name one that it holds in ${options}.`,
  },
  {
    codes: /^CERT_\w+$/,
    say: () => `its certificate is not valid now; have it renewed there.`,
  },
  {
    codes: /^(?:ENOTFOUND|EAI_AGAIN)$/,
    say: () => `no host of that name is known; check the address in ${options}.`,
  },
  {
    codes: /^ECONNREFUSED$/,
    say: () => `nobody listens there; start memoryd there, or check the address in ${options}.`,
  },
  {
    codes: /^(?:EPROTO|ERR_SSL_\w+)$/,
    say: (url) =>
      `what listens there does not speak TLS as memoryd does; if it speaks none, write ${withScheme(url, "http")} in ${options}.`,
  },
  {
    codes: /^(?:ECONNRESET|EPIPE|HPE_\w+)$/,
    say: (url) =>
      url.startsWith("https:")
        ? `the connection was closed without an answer; check the address in ${options}.`
        : `what listens there does not answer in HTTP; if it speaks TLS, write ${withScheme(url, "https")} in ${options}.`,
  },
];

const notFound = (url: string, why: string, cause?: unknown): MemorydError =>
  new MemorydError("unavailable", `No memoryd answers at ${url}: ${why}`, {
    reason: "DAEMON_NOT_FOUND",
    cause,
  });

/** For a call to `url` that failed with `error`. */
export function unreachable(url: string, error: unknown): MemorydError {
  if (tookTooLong(error)) return notFound(url, `it took too long; check the address in ${options}.`, error);
  const codes = errorCodesOf(error);
  const known = causes.find((cause) => codes.some((code) => cause.codes.test(code)));
  const why =
    known?.say(url) ??
    `it cannot be reached (${codes[0] ?? "unknown fault"}); check the address in ${options}.`;
  return notFound(url, why, error);
}

/** For somebody at `url` who answered with `status`, and not as memoryd does. */
export const noMemoryd = (url: string, status: number): MemorydError =>
  notFound(
    url,
    `somebody else does, or refuses you (HTTP status ${status}); check the address in ${options}.`,
  );
