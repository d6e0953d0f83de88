/**
 * From "it listens" to "it is gone" (daemon.md D4, D7, D8): writes the discovery file, waits for a reason to
 * stop, and then ends things in the one order that loses nothing:
 *
 * 1. the discovery file, so that nobody new comes;
 * 2. the server: no new connection, streams end, unary calls finish within the grace;
 * 3. the storage: queued writes, checkpoint, and last of all the ownership of the database.
 *
 * | reason | when |
 * | --- | --- |
 * | signal | SIGTERM or SIGINT; a second one from 500 ms on ends the process at once |
 * | request | POST /stop by somebody with the right to |
 * | idle | nobody used the daemon for `--idle-exit` seconds |
 * | parent | the process that started it is gone, with `--exit-with-parent` |
 */

import { type Discovery, removeDiscovery, writeDiscovery } from "../config/discovery.js";
import type { Config } from "../config/load.js";
import type { Log } from "../kernel/log.js";
import type { RunningServer } from "./server.js";

export type DaemonParts = {
  readonly config: Config;
  readonly log: Log;
  readonly server: RunningServer;
  /** What the discovery file says. */
  readonly discovery: Discovery;
  /** Ends the storage; its ownership of the database goes last. */
  readonly closeStorage: () => Promise<void>;
  /** Called once the discovery file is there. */
  readonly onReady: (discovery: Discovery) => void;
  /** The process whose end is ours too, with `--exit-with-parent`. */
  readonly parentProcessId: number;
};

export type StopReason = "signal" | "request" | "idle" | "parent";

const signals = ["SIGTERM", "SIGINT"] as const;
const signalNumbers: Readonly<Record<(typeof signals)[number], number>> = { SIGINT: 2, SIGTERM: 15 };
/** npm hands on one Ctrl-C twice. */
const sameSignalMs = 500;
const pollMs = 500;

function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    // Somebody else's process: it lives, though we may not signal it.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Runs until there is a reason to stop, stops, and says why. Rejects when the storage does not close cleanly. */
export async function runDaemon(parts: DaemonParts): Promise<StopReason> {
  const { config, log, server, discovery } = parts;
  const stop = watchForStop(parts);
  const close = async (graceMs: number): Promise<void> => {
    forgetDiscovery(parts);
    if ((await server.stop(graceMs)) === "cut")
      log.warn({ graceMs }, "calls were still running and were ended");
    await parts.closeStorage();
  };
  try {
    try {
      writeDiscovery(config.paths.discoveryFile, discovery);
      parts.onReady(discovery);
    } catch (error) {
      await close(0);
      throw error;
    }
    const reason = await stop.reason;
    log.info({ reason }, "the daemon stops");
    await close(config.daemon.stopGraceMs);
    log.info({ reason }, "the daemon has stopped");
    return reason;
  } finally {
    stop.forget();
  }
}

/** A file that stays behind misleads nobody for long: its reader asks for proof and then starts a daemon. */
function forgetDiscovery({
  config,
  log,
  discovery,
}: Pick<DaemonParts, "config" | "log" | "discovery">): void {
  try {
    removeDiscovery(config.paths.discoveryFile, discovery.instance);
  } catch (error) {
    log.warn({ error }, "the discovery file could not be removed");
  }
}

function watchForStop({ config, log, server, discovery, parentProcessId }: DaemonParts) {
  const { idleExitSeconds, exitWithParent } = config.daemon;
  let stopFor: (reason: StopReason) => void = () => {};
  const reason = new Promise<StopReason>((resolve) => {
    stopFor = resolve;
  });

  let firstSignalMs: number | undefined;
  const onSignal = (signal: (typeof signals)[number]): void => {
    const now = performance.now();
    firstSignalMs ??= now;
    if (now - firstSignalMs >= sameSignalMs) process.exit(128 + signalNumbers[signal]);
    stopFor("signal");
  };
  // What nobody caught leaves us in a state that nobody knows: the next start is safer than going on.
  const onUncaught = (error: unknown): void => {
    log.error({ error }, "the daemon ends at once because of a fault of its own");
    forgetDiscovery({ config, log, discovery });
    process.exit(1);
  };
  for (const signal of signals) process.on(signal, onSignal);
  process.on("uncaughtException", onUncaught);
  server.stopRequested.then(() => stopFor("request"));

  const poll = setInterval(() => {
    if (exitWithParent && (process.ppid !== parentProcessId || !isAlive(parentProcessId))) stopFor("parent");
    if (idleExitSeconds === 0 || server.openRequests() > 0) return;
    if (performance.now() - server.lastUsedMs() >= idleExitSeconds * 1_000) stopFor("idle");
  }, pollMs);

  return {
    reason,
    forget: (): void => {
      clearInterval(poll);
      for (const signal of signals) process.off(signal, onSignal);
      process.off("uncaughtException", onUncaught);
    },
  };
}
