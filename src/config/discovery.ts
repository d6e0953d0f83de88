/**
 * How a daemon is found (`daemon.json`, daemon.md D4), and why one could not start (D5). Both are read by
 * other processes at any moment, so they are replaced in one step; what cannot be read as ours counts as
 * absent, because a daemon that nobody can find is started again, and its database decides.
 */
import { rmSync } from "node:fs";
import { readFileIfThere, replacePrivateFile } from "./files.js";

export type Discovery = {
  readonly url?: string;
  readonly socket?: string;
  readonly pid: number;
  /** RFC 3339. */
  readonly startTime: string;
  readonly version: string;
  /** Random, new at every start; the daemon names it in its `/livez` answer. */
  readonly instance: string;
  /** The daemon takes calls over TCP without a token, and so cannot prove that it is ours (D21). */
  readonly withoutToken?: boolean;
};

export type StartFailure = {
  /** Milliseconds since 1970, so that those who wait can tell it from an older one. */
  readonly at: number;
  readonly reason: string;
  readonly message: string;
};

/** The members of a JSON object; empty when `file` is absent, cannot be read or holds anything else. */
function readMembers(file: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(readFileIfThere(file) ?? "null");
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

/** The running daemon as it described itself; `undefined` when there is no readable description. */
export function readDiscovery(file: string): Discovery | undefined {
  const { url, socket, pid, startTime, version, instance, withoutToken } = readMembers(file);
  if (!isText(url) && !isText(socket)) return undefined;
  if (!Number.isSafeInteger(pid) || !isText(startTime) || !isText(version) || !isText(instance))
    return undefined;
  return {
    ...(isText(url) ? { url } : {}),
    ...(isText(socket) ? { socket } : {}),
    pid: pid as number,
    startTime,
    version,
    instance,
    ...(withoutToken === true ? { withoutToken } : {}),
  };
}

/** Called once the daemon listens. */
export function writeDiscovery(file: string, discovery: Discovery): void {
  replacePrivateFile(file, `${JSON.stringify(discovery)}\n`);
}

/** Removes the description of this instance and leaves one that a newer daemon wrote. */
export function removeDiscovery(file: string, instance: string): void {
  if (readDiscovery(file)?.instance === instance) rmSync(file, { force: true });
}

/** Called by a daemon (or by who started it) that ends before it is ready. */
export function writeStartFailure(file: string, failure: StartFailure): void {
  replacePrivateFile(file, `${JSON.stringify(failure)}\n`);
}

/** The last start that failed; `undefined` when none did. */
export function readStartFailure(file: string): StartFailure | undefined {
  const { at, reason, message } = readMembers(file);
  if (!Number.isSafeInteger(at) || !isText(reason) || !isText(message)) return undefined;
  return { at: at as number, reason, message };
}
