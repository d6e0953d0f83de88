/**
 * What `doctor` looks at of the daemon: whether it runs, answers and has our version, what it left behind when
 * it does not run, and its database. Left-over files are removed; data never is.
 */
import { existsSync, rmSync, statSync } from "node:fs";
import { type Daemon, seekDaemon } from "../../client/find.js";
import { databaseOwnedReason } from "../../client/start.js";
import { readDiscovery, readStartFailure } from "../../config/discovery.js";
import { memorydVersion } from "../../config/version.js";
import { inspectSqlite, inspectUsedSqlite } from "../../engines/sqlite.js";
import { systemClock } from "../../kernel/clock.js";
import { isMemorydError } from "../../kernel/errors.js";
import { type Examination, type Finding, fault, isAtRest, well } from "./finding.js";

/** A start takes a second; a hint older than this was left by one that was killed. */
const oldHintMs = 10_000;

const removed = (file: string) => (): string => {
  rmSync(file, { force: true });
  return `Removed ${file}.`;
};

async function runningFindings(daemon: Daemon): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const { status, body } = await daemon.request("/readyz");
  const place = daemon.url ?? daemon.socket ?? "";
  if (status === 200)
    findings.push(well("daemon", `It runs (process ${daemon.pid}) and is ready at ${place}.`));
  else {
    const component = /"component":"([\w-]+)"/.exec(body)?.[1] ?? "a component";
    findings.push(fault("daemon", `It runs, but its ${component} does not work; its log says why.`));
  }
  if (daemon.version !== memorydVersion) {
    const sentence = `The daemon is version ${daemon.version}, this command ${memorydVersion}; run memoryd stop, then start it again.`;
    findings.push(fault("version", sentence));
  } else findings.push(well("version", `Daemon and command are version ${memorydVersion}.`));
  return findings;
}

export const examineDaemon: Examination = async (instance) => {
  const { daemon, silent, config, isOwned } = instance;
  if (daemon !== undefined) return runningFindings(daemon);
  if (silent !== undefined) {
    const sentence = `It is there (process ${silent.pid}) but does not answer; end that process, and nothing that it has answered is lost.`;
    return [fault("daemon", sentence)];
  }
  if (isOwned) {
    const sentence = `Some process owns ${config.paths.databaseFile} and cannot be found from here; look for another memoryd serve, with other options.`;
    return [fault("daemon", sentence)];
  }
  const failure = readStartFailure(config.paths.startFailureFile);
  // That one was owned before tells nothing about the next start.
  if (failure === undefined || failure.reason === databaseOwnedReason)
    return [well("daemon", "None is running; memoryd serve starts one.")];
  const at = new Date(failure.at).toISOString();
  return [well("daemon", `None is running; the last start that failed (${at}) said: ${failure.message}`)];
};

export const examineDiscovery: Examination = (instance) => {
  const { discoveryFile, startingFile } = instance.config.paths;
  const findings: Finding[] = [];
  if (existsSync(discoveryFile) && isAtRest(instance)) {
    const pid = readDiscovery(discoveryFile)?.pid;
    const whose =
      pid === undefined ? "holds nothing that can be read" : `names a daemon (process ${pid}) that is gone`;
    const sentence = `${discoveryFile} ${whose}; delete it.`;
    findings.push(fault("discovery", sentence, removed(discoveryFile)));
  }
  const hintMs = statSync(startingFile, { throwIfNoEntry: false })?.mtimeMs;
  if (hintMs !== undefined && isAtRest(instance) && Math.abs(systemClock.nowMs() - hintMs) > oldHintMs) {
    const sentence = `${startingFile} was left by a start that never ended; delete it.`;
    findings.push(fault("discovery", sentence, removed(startingFile)));
  }
  if (findings.length > 0) return findings;
  return [
    well("discovery", existsSync(discoveryFile) ? "It is that of the daemon." : "Nothing is left over."),
  ];
};

export const examineDatabase: Examination = ({ config, isOwned }) => {
  const file = config.paths.databaseFile;
  if (file === undefined) return [well("database", "It is in memory and forgotten when the daemon ends.")];
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return [well("database", `${file} is made at the first start.`)];
  if (stat.isDirectory())
    return [fault("database", `${file} is a folder, in the way of the database; move it elsewhere.`)];
  try {
    if (isOwned) {
      inspectUsedSqlite(file);
      return [well("database", `${file} is in use, whole, and fits this version.`)];
    }
    inspectSqlite(file);
    return [well("database", `${file} is whole and fits this version.`)];
  } catch (error) {
    if (isMemorydError(error)) return [fault("database", error.message)];
    throw error;
  }
};

/** The daemon that `--url` or MEMORYD_URL names, when one does. */
export const examineNamedDaemon: Examination = async ({ config }) => {
  const { url } = config.client;
  if (url === undefined) return [];
  try {
    const { daemon } = await seekDaemon(config);
    daemon?.close();
    return [well("url", `The daemon at ${url} answers, and commands talk to that one.`)];
  } catch (error) {
    if (isMemorydError(error)) return [fault("url", error.message)];
    throw error;
  }
};
