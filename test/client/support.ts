/** Daemons and callers as real processes, for the tests of the client. All of them end with the test. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Transport } from "@connectrpc/connect";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { createMemorydClients } from "../../src/client/clients.js";
import { readDiscovery } from "../../src/config/discovery.js";
import { readEnvironment } from "../../src/config/env.js";
import { type Config, loadConfig } from "../../src/config/load.js";
import { compile } from "../support/compile.js";
import { plainEnvironment } from "../support/daemon.js";
import { temporaryFolder } from "../support/folder.js";

let compiled: string;
let standIn: string;
let ensureOnce: string;

beforeAll(() => {
  compiled = mkdtempSync(join(tmpdir(), "memoryd-compiled-"));
  // With the program itself, which is what ensureDaemon() starts when it is told nothing else.
  const sources = ["test/support/stand-in-daemon.ts", "test/support/ensure-once.ts", "src/main.ts"];
  [standIn, ensureOnce] = compile(sources, compiled) as [string, string];
});
afterAll(() => rmSync(compiled, { recursive: true, force: true }));

/** The command that starts a stand-in; `how` makes it misbehave. */
export const standInCommand = (...how: string[]): readonly string[] => [process.execPath, standIn, ...how];

const linesOf = (file: string): readonly string[] =>
  existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];

export const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

export type Instance = {
  readonly folder: string;
  readonly config: Config;
  /** Process ids of the daemons that were spawned here, and of those that became ready. */
  readonly spawned: () => readonly number[];
  readonly ready: () => readonly number[];
};

/** A data folder whose daemons end with the test. */
export function createInstance(options: Readonly<Record<string, unknown>> = {}): Instance {
  const folder = temporaryFolder();
  const flags = { data_dir: folder, "client.start_timeout_ms": 20_000, ...options };
  const pids = (name: string) => () => linesOf(join(folder, name)).map(Number);
  // Nothing that the developer's own daemon is configured with.
  const config = loadConfig({ flags, environment: { ...readEnvironment(), variables: {} } });
  const instance = { folder, config, spawned: pids("spawned"), ready: pids("ready") };
  onTestFinished(() => {
    const found = readDiscovery(config.paths.discoveryFile)?.pid ?? process.pid;
    for (const pid of new Set([...instance.spawned(), found])) {
      // Our own stands in the file of a test that pretends to be a dead daemon.
      if (pid !== process.pid && isAlive(pid)) process.kill(pid, "SIGKILL");
    }
  });
  return instance;
}

export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

function collect(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  const output = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      output[stream] += text;
    });
  }
  onTestFinished(() => void child.kill("SIGKILL"));
  return new Promise((resolve, reject) => {
    child.once("error", reject).once("close", (code) => resolve({ code, ...output }));
  });
}

/** A stand-in in the foreground, as somebody would run it. */
export function runStandIn({ folder }: Instance, ...how: string[]): ChildProcessWithoutNullStreams {
  const [program, ...programArguments] = standInCommand(...how, "serve", "--data-dir", folder);
  const child = spawn(program as string, programArguments, { env: plainEnvironment() });
  void collect(child);
  return child;
}

/** A program that calls ensureDaemon() as soon as it is let `go`, makes one call and ends; without `command`, for memoryd itself. */
export function prepareCaller(
  { folder }: Instance,
  command: readonly string[] = [],
  timeoutMs = 60_000,
): { readonly process: ChildProcessWithoutNullStreams; readonly go: () => Promise<Ended> } {
  const child = spawn(process.execPath, [ensureOnce, folder, String(timeoutMs), ...command], {
    env: plainEnvironment(),
  });
  const ended = collect(child);
  return {
    process: child,
    go: () => {
      child.stdin.end();
      return ended;
    },
  };
}

/** What a stand-in answers to GetCursor: who it is, what it was sent and how it was started. */
export type StandInAnswer = {
  readonly pid: number;
  readonly authorization: string | null;
  readonly workspace: string | null;
  readonly inherited: readonly string[];
  readonly maxRecords: number;
  readonly folder: string;
  readonly logFile: string;
};

export async function cursorOf(transport: Transport): Promise<StandInAnswer> {
  return JSON.parse((await createMemorydClients(transport).memory.getCursor({})).content);
}
