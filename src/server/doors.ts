/**
 * Where the daemon listens (daemon.md D3, D21, D22): decides what may be opened, opens the TCP port and the
 * unix socket, and says in a sentence what was not opened and why. What comes in through them is `http.ts`.
 */
import { readFileSync } from "node:fs";
import { isIPv6 } from "node:net";
import { createSecureContext } from "node:tls";
import { bareHost, isLoopbackHost } from "../config/hosts.js";
import type { Config } from "../config/load.js";
import { maxSocketPathBytes } from "../config/paths.js";
import { MemorydError } from "../kernel/errors.js";
import type { Log } from "../kernel/log.js";
import { byteLength } from "../kernel/utf8.js";
import { createListener, type Listener } from "./listener.js";
import type { HttpHandler } from "./message.js";
import { portHolder } from "./port-holder.js";
import { isMemorydAt } from "./port-neighbour.js";
import { closeSocketFile, prepareSocketFile } from "./socket-file.js";

export type Door = "tcp" | "socket";

export type OpenDoors = {
  readonly url: string | undefined;
  readonly socket: string | undefined;
  readonly openConnections: () => number;
  readonly close: (graceMs: number) => Promise<"clean" | "cut">;
};

const refusal = (message: string, reason: string): MemorydError =>
  new MemorydError("invalid_argument", message, { reason });

const hasTls = (config: Config): boolean => config.tls.cert !== undefined && config.tls.key !== undefined;

/**
 * Throws `invalid_argument` when the configuration would let strangers in. The loader refuses the same; here
 * it holds for every configuration, whoever made it.
 */
export function assertMayListen(config: Config): void {
  const { listen, access } = config;
  if (!listen.tcp) return;
  const isLocal = isLoopbackHost(listen.host);
  if (access.insecureNoAuth && (!isLocal || access.behindProxy)) {
    throw refusal(
      "--insecure-no-auth is only possible on a loopback address without a proxy; leave it out, or listen on 127.0.0.1.",
      "NO_AUTH_BEYOND_LOOPBACK",
    );
  }
  if (isLocal) return;
  if (!hasTls(config) && !access.behindProxy) {
    throw refusal(
      "Listening beyond loopback needs --tls-cert and --tls-key, or --behind-proxy when a proxy does the TLS.",
      "TLS_REQUIRED",
    );
  }
}

function readPem(file: string, option: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new MemorydError("invalid_argument", `${option} names ${file}, which cannot be read.`, {
      reason: "TLS_FILE_UNREADABLE",
      cause,
    });
  }
}

/** The certificate and its key, found to belong together; `undefined` when there is no TLS. */
function tlsFrom({ tls }: Config): { readonly cert: Buffer; readonly key: Buffer } | undefined {
  if (tls.cert === undefined || tls.key === undefined) return undefined;
  const [cert, key] = [readPem(tls.cert, "--tls-cert"), readPem(tls.key, "--tls-key")];
  const use = (pair: { cert?: Buffer; key?: Buffer }, message: string, reason: string): void => {
    try {
      createSecureContext(pair);
    } catch (cause) {
      throw new MemorydError("invalid_argument", message, { reason, cause });
    }
  };
  use(
    { cert },
    `--tls-cert names ${tls.cert}, which holds no certificate that can be used; name a PEM file with one.`,
    "TLS_CERTIFICATE_UNUSABLE",
  );
  use(
    { key },
    `--tls-key names ${tls.key}, which holds no private key that can be used; name a PEM file with one, without a passphrase.`,
    "TLS_KEY_UNUSABLE",
  );
  use(
    { cert, key },
    `--tls-key ${tls.key} is not the key of --tls-cert ${tls.cert}; name two files that belong together.`,
    "TLS_KEY_MISMATCH",
  );
  return { cert, key };
}

/** The host without brackets; a wildcard becomes the loopback that it includes. */
function reachableHost(host: string): string {
  const bare = bareHost(host);
  return bare === "0.0.0.0" ? "127.0.0.1" : bare === "::" ? "::1" : bare;
}

function urlFrom(config: Config, host: string, port: number): string {
  const scheme = hasTls(config) ? "https" : "http";
  const reachable = reachableHost(host);
  return `${scheme}://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`;
}

const systemCodeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "";

async function listenFailure(error: unknown, host: string, port: number): Promise<MemorydError> {
  const code = systemCodeOf(error);
  if (code === "EADDRINUSE") {
    const holder = portHolder(port);
    const message = (await isMemorydAt(reachableHost(host), port))
      ? `Port ${port} on ${host} is taken by the memoryd daemon of another data folder or user` +
        `${holder === undefined ? "" : `, ${holder}`}; use that one with --url, or start this one with ` +
        "--port-fallback or another --listen address."
      : `Port ${port} on ${host} is taken by ${holder ?? "another program"}; stop it, or start memoryd with ` +
        "--port-fallback or another --listen address.";
    return new MemorydError("unavailable", message, { reason: "PORT_TAKEN", cause: error });
  }
  const why =
    code === "EACCES"
      ? `needs rights that this user does not have; choose a port above 1023`
      : `is no address of this machine; choose another --listen address`;
  return new MemorydError("unavailable", `Listening on ${host}, port ${port}: it ${why}.`, {
    reason: "CANNOT_LISTEN",
    cause: error,
  });
}

async function openTcp(config: Config, handler: HttpHandler): Promise<{ listener: Listener; url: string }> {
  const { host, port, portFallback } = config.listen;
  const tls = tlsFrom(config);
  const attempt = async (wantedPort: number): Promise<{ listener: Listener; url: string }> => {
    const listener = createListener({ handler, ...(tls === undefined ? {} : { tls }) });
    const address = await listener.listen({ host: bareHost(host), port: wantedPort });
    if (typeof address === "string") throw new Error("a TCP listener has no path");
    return { listener, url: urlFrom(config, host, address.port) };
  };
  try {
    return await attempt(port);
  } catch (error) {
    if (!portFallback || systemCodeOf(error) !== "EADDRINUSE") throw await listenFailure(error, host, port);
    return attempt(0);
  }
}

/** The socket's path, or `undefined` with a sentence in the log when there is none to bind. */
function socketFileFrom(config: Config, log: Log): string | undefined {
  if (!config.listen.socket) return undefined;
  const file = config.paths.socketFile;
  if (file !== undefined && byteLength(file) <= maxSocketPathBytes) return file;
  log.warn(
    {},
    `The socket is not opened, because this system has no place for one within ${maxSocketPathBytes} bytes; the TCP port serves alone.`,
  );
  return undefined;
}

/** Opens what the configuration asks for; on a failure nothing stays open. `handlerFor` is asked once a door. */
export async function openDoors(
  config: Config,
  log: Log,
  handlerFor: (door: Door) => HttpHandler,
): Promise<OpenDoors> {
  assertMayListen(config);
  const { insecureNoAuth } = config.access;
  const socket = socketFileFrom(config, log);
  if (socket === undefined && !config.listen.tcp) {
    throw refusal(
      "Neither a TCP port nor a socket is left to listen on; drop --no-tcp, or use a shorter --data-dir.",
      "NOTHING_TO_LISTEN_ON",
    );
  }
  const listeners: Listener[] = [];
  const close = async (graceMs: number): Promise<"clean" | "cut"> => {
    const ways = await Promise.all(listeners.map((listener) => listener.close(graceMs)));
    return ways.includes("cut") ? "cut" : "clean";
  };
  try {
    if (socket !== undefined) {
      await prepareSocketFile(socket);
      const listener = createListener({ handler: handlerFor("socket") });
      await listener.listen({ path: socket });
      listeners.push(listener);
      closeSocketFile(socket);
    }
    let url: string | undefined;
    if (config.listen.tcp) {
      const tcp = await openTcp(config, handlerFor("tcp"));
      listeners.push(tcp.listener);
      url = tcp.url;
      if (insecureNoAuth) {
        log.warn(
          { url },
          "Anybody on this machine may read and write: --insecure-no-auth asks for no token.",
        );
      }
    }
    return {
      url,
      socket,
      close,
      openConnections: () => listeners.reduce((sum, listener) => sum + listener.openConnections(), 0),
    };
  } catch (error) {
    await close(0);
    throw error;
  }
}
