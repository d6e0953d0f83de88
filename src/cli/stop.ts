/**
 * `memoryd stop` (daemon.md D10): asks the daemon to stop and waits until it is gone, which is when its
 * discovery file is another's or nobody's and its database can be owned again. Without a daemon there is
 * nothing to do, and that is success.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Daemon } from "../client/find.js";
import { type Discovery, readDiscovery } from "../config/discovery.js";
import type { Config } from "../config/load.js";
import { MemorydError } from "../kernel/errors.js";
import type { CommandSpec } from "./command.js";
import { daemonSettings } from "./options.js";
import { isOwned } from "./owner.js";
import { durationText } from "./quantities.js";
import { findRunning, membersFrom } from "./running.js";

const pollMs = 50;
const sayAfterMs = 2_000;
/** What a daemon may need beside the grace that it gives to open calls. */
const patienceMs = 30_000;

/** Whether the daemon that `stopped` describes has left the machine. */
function isGone(config: Config, stopped: Discovery): boolean {
  const { discoveryFile, databaseFile } = config.paths;
  const current = readDiscovery(discoveryFile);
  if (current !== undefined) return current.instance !== stopped.instance;
  return databaseFile === undefined || !isOwned(databaseFile);
}

/** Whether the daemon at the address of `client.url` has stopped to answer. */
async function isSilent(daemon: Daemon): Promise<boolean> {
  try {
    await daemon.request("/livez");
    return false;
  } catch {
    return true;
  }
}

async function waitUntil(
  isDone: () => boolean | Promise<boolean>,
  limitMs: number,
  who: string,
  say: (text: string) => void,
): Promise<void> {
  const startedMs = performance.now();
  let isSaid = false;
  while (!(await isDone())) {
    const waitedMs = performance.now() - startedMs;
    if (waitedMs > limitMs) {
      throw new MemorydError(
        "unavailable",
        `The daemon${who} has not ended after ${durationText(waitedMs / 1_000)}; read its log, or end the process yourself.`,
        { reason: "STOP_TIMEOUT" },
      );
    }
    if (waitedMs > sayAfterMs && !isSaid) {
      say(`The daemon${who} is finishing what it began; waiting for it.`);
      isSaid = true;
    }
    await sleep(pollMs);
  }
}

export const stopCommand: CommandSpec = {
  description:
    "Asks the running daemon to stop and waits until it is gone. Calls in progress may finish, and nothing " +
    "that was answered is lost. Where none runs there is nothing to do, and the command succeeds.",
  settings: daemonSettings,
  examples: [
    ["memoryd stop", "Stop the daemon of this user"],
    ["memoryd stop --data-dir ./try", "Stop the instance of that folder"],
  ],
  run: async ({ configToFind, output, isJson }) => {
    const config = configToFind();
    using daemon = await findRunning(config);
    if (daemon === undefined) {
      if (isJson) await output.json({ stopped: false });
      else await output.write("No daemon is running here.\n");
      return undefined;
    }
    const discovery = config.client.url === undefined ? readDiscovery(config.paths.discoveryFile) : undefined;
    membersFrom(await daemon.request("/stop", { method: "POST" }));
    const who = daemon.pid === undefined ? "" : ` (process ${daemon.pid})`;
    const isDone = (): boolean | Promise<boolean> =>
      discovery === undefined ? isSilent(daemon) : isGone(config, discovery);
    await waitUntil(isDone, config.daemon.stopGraceMs + patienceMs, who, output.note);
    if (isJson)
      await output.json({ stopped: true, ...(daemon.pid === undefined ? {} : { pid: daemon.pid }) });
    else await output.write(`The daemon${who} has stopped.\n`);
    return undefined;
  },
};
