/**
 * `ensureDaemon()`: attach to the daemon that runs, else start one and wait until it is ready (daemon.md D5).
 * Any number of processes may call it at once; one daemon results, because the database has one owner, and
 * all of them get an answer from it.
 *
 * | while waiting | then |
 * | --- | --- |
 * | a daemon is found (`find.ts`) | attach |
 * | a start failed since we began: DATABASE_OWNED | go on: its owner is starting, or about to end |
 * | …for any other reason | throw it at once |
 * | nobody is starting one | start one (`start.ts`) |
 * | the deadline passed | throw, naming who does not answer |
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { readStartFailure, type StartFailure } from "../config/discovery.js";
import { type Config, loadConfig } from "../config/load.js";
import { systemClock } from "../kernel/clock.js";
import { isMemorydError, MemorydError } from "../kernel/errors.js";
import { jitter } from "../kernel/ids.js";
import { neverArrived } from "./call.js";
import { type Daemon, type Finding, seekDaemon } from "./find.js";
import {
  type Claim,
  claimStart,
  databaseOwnedReason,
  defaultCommand,
  type StartOptions,
  startDetached,
} from "./start.js";

export type EnsureDaemonOptions = {
  /** Also of a daemon that is started; read from the environment and `config.json` when left out. */
  readonly config?: Config;
  /** The program that is given `serve …`; this package's own when left out. */
  readonly command?: readonly string[];
};

const firstPauseMs = 10;
const longestPauseMs = 100;
const shortestSeekMs = 50;
const longestSeekMs = 2_000;

const startError = (reason: string, message: string): MemorydError =>
  new MemorydError("unavailable", message, { reason });

function lateError(config: Config, finding: Finding, failure: StartFailure | undefined): MemorydError {
  if (finding.daemon === undefined && finding.silent !== undefined) {
    const { pid } = finding.silent;
    return startError(
      "DAEMON_SILENT",
      `The daemon (process ${pid}) does not answer; end that process and try again.`,
    );
  }
  if (failure !== undefined) {
    return startError(failure.reason, `A daemon runs that cannot be found from here. ${failure.message}`);
  }
  const waited = `${config.client.startTimeoutMs} ms`;
  const message = `The daemon was not ready within ${waited}; try again, or read ${config.paths.logFile}.`;
  return startError("START_TIMEOUT", message);
}

/** A start that this call has made, until it is known how it ended. */
type Attempt = { readonly claim: Claim; readonly forget: () => void };

function attemptStart(start: StartOptions, onEnd: () => void): Attempt | undefined {
  try {
    const claim = claimStart(start.config.paths.startingFile);
    if (claim === undefined) return undefined;
    try {
      return { claim, forget: startDetached(start, onEnd) };
    } catch (error) {
      claim.release();
      throw error;
    }
  } catch (cause) {
    if (isMemorydError(cause)) throw cause;
    const { stateDir, dataDir } = start.config.paths;
    const message = `No daemon can be started: ${stateDir} and ${dataDir} must be folders that you can write to.`;
    throw new MemorydError("failed_precondition", message, { reason: "FOLDER_NOT_WRITABLE", cause });
  }
}

async function waitForDaemon(start: StartOptions): Promise<Daemon> {
  const { config } = start;
  const beganAtMs = systemClock.nowMs();
  const deadlineMs = performance.now() + config.client.startTimeoutMs;
  const remainingMs = (): number => deadlineMs - performance.now();
  let attempt: Attempt | undefined;
  const endAttempt = (): void => {
    attempt?.claim.release();
    attempt?.forget();
    attempt = undefined;
  };
  try {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 1.5, longestPauseMs)) {
      const seekMs = Math.min(Math.max(remainingMs(), shortestSeekMs), longestSeekMs);
      const finding = await seekDaemon(config, seekMs);
      if (finding.daemon !== undefined) return finding.daemon;
      const last = readStartFailure(config.paths.startFailureFile);
      const failure = last !== undefined && last.at >= beganAtMs ? last : undefined;
      if (failure !== undefined && failure.reason !== databaseOwnedReason) {
        throw startError(failure.reason, `The daemon could not start. ${failure.message}`);
      }
      if (remainingMs() <= 0) throw lateError(config, finding, failure);
      attempt?.claim.renew();
      attempt ??= attemptStart(start, endAttempt);
      await sleep(pauseMs * (0.5 + jitter()));
    }
  } finally {
    endAttempt();
  }
}

/** By its name, a method that changes nothing, so that a call of it may be made twice. */
const isReadOnly = ({ name }: { readonly name: string }): boolean => /^(?:Get|List)[A-Z]/.test(name);

/** Also of a connection that broke, and of a daemon that stops. */
const isUnavailable = (error: unknown): boolean =>
  error instanceof ConnectError && error.code === Code.Unavailable;

/**
 * A daemon whose calls survive its restart: they are made once more, on the daemon that `renew` finds or starts.
 *
 * | the call | is made once more |
 * | --- | --- |
 * | reached nobody | always |
 * | may have arrived, and its connection broke or the daemon stopped | when it only reads |
 * | is a stream | never |
 */
function withRenewal(first: Daemon, renew: () => Promise<Daemon>): Daemon {
  let current = first;
  let isClosed = false;
  let renewal: Promise<void> | undefined;
  const replace = async (lost: Daemon): Promise<void> => {
    const next = await renew();
    lost.close();
    current = next;
    if (isClosed) next.close();
  };
  const renewed = (lost: Daemon): Promise<void> => {
    if (current !== lost) return Promise.resolve();
    renewal ??= replace(lost).finally(() => {
      renewal = undefined;
    });
    return renewal;
  };
  const transport: Transport = {
    async unary(...request) {
      const used = current;
      try {
        return await used.transport.unary(...request);
      } catch (error) {
        const mayRepeat = neverArrived(error) || (isReadOnly(request[0]) && isUnavailable(error));
        if (isClosed || !mayRepeat) throw error;
        await renewed(used);
        return await current.transport.unary(...request);
      }
    },
    stream: (...request) => current.transport.stream(...request),
  };
  const close = (): void => {
    isClosed = true;
    current.close();
  };
  return {
    get url() {
      return current.url;
    },
    get socket() {
      return current.socket;
    },
    get pid() {
      return current.pid;
    },
    get version() {
      return current.version;
    },
    transport,
    request: (path, options) => current.request(path, options),
    close,
    [Symbol.dispose]: close,
  };
}

/**
 * The running daemon, started when there is none. With `client.url` it is the daemon there, and none is
 * started. Throws `unavailable` when there is no daemon in time, with the reason of a start that failed.
 */
export async function ensureDaemon({
  config = loadConfig(),
  command = defaultCommand(),
}: EnsureDaemonOptions = {}): Promise<Daemon> {
  const wait = (): Promise<Daemon> => waitForDaemon({ config, command });
  return config.client.url === undefined ? withRenewal(await wait(), wait) : wait();
}
