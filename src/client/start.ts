/**
 * Starting a daemon in the background (daemon.md D5): the hint that thins the crowd of those who would, and
 * the process itself. The hint decides nothing, since any process may die between two of its steps: who owns
 * the database is the daemon, and a second one ends by itself.
 */
import { spawn } from "node:child_process";
import { closeSync, openSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { daemonVariablesFrom } from "../config/describe.js";
import { readStartFailure, writeStartFailure } from "../config/discovery.js";
import { childVariables } from "../config/env.js";
import {
  assertAppendable,
  ensurePrivateFolder,
  errorCodeOf,
  privateFileMode,
  readFileIfThere,
} from "../config/files.js";
import type { Config } from "../config/load.js";
import { options } from "../config/options.js";
import { systemClock } from "../kernel/clock.js";
import { MemorydError } from "../kernel/errors.js";
import { randomHex } from "../kernel/ids.js";

/** A hint that nobody renewed for so long is of a starter that died or stands still: one more is tried. */
export const hintLifetimeMs = 2_000;

export const databaseOwnedReason = "DATABASE_OWNED";

/** This Node with this package's program; from the sources, which are TypeScript, with the loader that reads them. */
export function defaultCommand(): readonly string[] {
  if (!import.meta.url.endsWith(".ts")) {
    return [process.execPath, fileURLToPath(new URL("../main.js", import.meta.url))];
  }
  const loader = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
  return [process.execPath, "--import", loader, fileURLToPath(new URL("../main.ts", import.meta.url))];
}

const isGone = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return errorCodeOf(error) === "ESRCH";
  }
};

function isAbandoned(hintFile: string): boolean {
  const writtenAtMs = statSync(hintFile, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const age = systemClock.nowMs() - writtenAtMs;
  const pid = Number.parseInt(readFileIfThere(hintFile) ?? "", 10);
  return age > hintLifetimeMs || age < -hintLifetimeMs || (pid > 0 && isGone(pid));
}

function createHint(hintFile: string, mark: string): boolean {
  try {
    writeFileSync(hintFile, mark, { flag: "wx", mode: privateFileMode });
    return true;
  } catch (error) {
    if (errorCodeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** The right to start the daemon, as long as it is renewed. */
export type Claim = {
  readonly renew: () => void;
  /** Removes the hint, unless somebody else's stands there by now. */
  readonly release: () => void;
};

/** Makes the hint that somebody is starting the daemon; `undefined` while another process does. */
export function claimStart(hintFile: string): Claim | undefined {
  const mark = `${process.pid} ${randomHex(8)}`;
  ensurePrivateFolder(dirname(hintFile));
  if (!createHint(hintFile, mark)) {
    if (!isAbandoned(hintFile)) return undefined;
    rmSync(hintFile, { force: true });
    if (!createHint(hintFile, mark)) return undefined;
  }
  const isOurs = (): boolean => readFileIfThere(hintFile) === mark;
  return {
    renew: () => {
      const seconds = systemClock.nowMs() / 1_000;
      if (isOurs()) utimesSync(hintFile, seconds, seconds);
    },
    release: () => {
      if (isOurs()) rmSync(hintFile, { force: true });
    },
  };
}

export type StartOptions = {
  readonly config: Config;
  /** The program that is given `serve …`. */
  readonly command: readonly string[];
};

/** The daemon is configured as its starter is, but has no use for the token and the choices of a client. */
function variablesFor(config: Config): Readonly<Record<string, string | undefined>> {
  const ours = options.filter((option) => option.scope === "client").map((option) => [option.env, undefined]);
  return childVariables({
    ...Object.fromEntries(ours),
    ...daemonVariablesFrom(config),
    // Or it would end with the first program that needed it.
    MEMORYD_DAEMON_EXIT_WITH_PARENT: "false",
  });
}

/**
 * Starts `serve` detached, in the data folder, logging to the file of the configuration. `onEnd` is called
 * when it ends; if it did not say why itself, its end has been noted in the start failure file by then. What
 * comes back is to be called once the daemon is ready: how it ends later is no failure to start.
 */
export function startDetached({ config, command }: StartOptions, onEnd: () => void): () => void {
  const { paths } = config;
  const logFile = config.log.file ?? paths.logFile;
  const startedAtMs = systemClock.nowMs();
  const [program, ...programArguments] = command;
  if (program === undefined) {
    throw new MemorydError(
      "invalid_argument",
      "The command that starts the daemon is empty; name a program.",
    );
  }
  const serve = ["serve", "--port-fallback", "--log-file", logFile];
  if (paths.instanceDir !== undefined) serve.push("--data-dir", paths.instanceDir);
  ensurePrivateFolder(paths.dataDir);
  assertAppendable(logFile);
  const log = openSync(logFile, "a", privateFileMode);
  const end = (how: string): void => {
    const last = readStartFailure(paths.startFailureFile);
    if (last === undefined || last.at < startedAtMs) {
      const message = `The daemon ended before it was ready (${how}); its log ${logFile} may say why.`;
      const failure = { at: systemClock.nowMs(), reason: "START_FAILED", message };
      writeStartFailure(paths.startFailureFile, failure);
    }
    onEnd();
  };
  try {
    const child = spawn(program, [...programArguments, ...serve], {
      cwd: paths.dataDir,
      detached: true,
      env: variablesFor(config),
      stdio: ["ignore", log, log],
      windowsHide: true,
    });
    let isAwaited = true;
    const endOnce = (how: string): void => {
      if (isAwaited) end(how);
      isAwaited = false;
    };
    child.once("error", (error) => endOnce(errorCodeOf(error) ?? "it could not be started"));
    child.once("exit", (code, signal) => endOnce(signal === null ? `exit code ${code}` : signal));
    child.unref();
    return () => {
      isAwaited = false;
    };
  } finally {
    closeSync(log);
  }
}
