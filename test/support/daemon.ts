/**
 * A real daemon as a process of its own, for the tests that come in from outside: the built program when it is
 * what the sources give (so under `npm test`), else one that is compiled for the test file.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { compile, root } from "./compile.js";
import { temporaryFolder } from "./folder.js";

const { isBuilt } = (await import(new URL("../../scripts/ready/stamps.mjs", import.meta.url).href)) as {
  isBuilt: () => boolean;
};

function findProgram(): string {
  if (isBuilt()) return join(root, "dist", "src", "main.js");
  const folder = mkdtempSync(join(tmpdir(), "memoryd-compiled-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return compile(["src/main.ts"], folder)[0] as string;
}

/** The program `memoryd`, to be run by Node. */
export const program: string = findProgram();

/** Longer than any start takes, also on a busy machine; a daemon that is not ready by then never will be. */
const startTimeoutMs = 30_000;
const stopTimeoutMs = 20_000;

export type DaemonOptions = {
  /** Its data folder. */
  readonly folder: string;
  /** Flags of `serve` beside `--json`, the folder and a free port. */
  readonly flags?: readonly string[];
  /** Modules that Node loads before memoryd; they can be sent messages. */
  readonly preload?: readonly string[];
};

export type Ended = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/** A process that may become a daemon, or end with a reason why not. */
export type DaemonProcess = {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** All that it wrote so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
};

export type Ready = {
  readonly event: string;
  readonly url: string;
  readonly socket: string;
  readonly pid: number;
  readonly version: string;
};

export type Daemon = DaemonProcess & {
  readonly folder: string;
  readonly ready: Ready;
  readonly url: string;
  readonly socket: string;
  readonly port: number;
  /** The operator token. */
  readonly token: string;
  /** Sends SIGTERM and waits for the end. */
  readonly stop: () => Promise<Ended>;
  /** Ends it as `kill -9` does. */
  readonly kill: () => Promise<Ended>;
};

/** A place where nothing can be made, so that a test which names no folder fails and leaves no trace. */
const nowhere = "/dev/null";

/** The environment without what would configure a daemon, and without the folders of who runs the tests. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const ours = /^(MEMORYD_|OTEL_|XDG_|NODE_OPTIONS$)/;
  const kept = Object.entries(process.env).filter(([name]) => !ours.test(name));
  return { ...Object.fromEntries(kept), XDG_DATA_HOME: nowhere, XDG_STATE_HOME: nowhere };
}

/** The arguments that make Node serve `options.folder`. */
export function serveArguments({ folder, flags = [], preload = [] }: DaemonOptions): readonly string[] {
  const imports = preload.flatMap((file) => ["--import", file]);
  return [...imports, program, "serve", "--json", "--data-dir", folder, "--listen", "127.0.0.1:0", ...flags];
}

/** What a process says and how it ends. */
export function follow(child: ChildProcess): DaemonProcess {
  const output = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream]?.setEncoding("utf8").on("data", (text: string) => {
      output[stream] += text;
    });
  }
  const ended = new Promise<Ended>((resolve) =>
    child.once("close", (code, signal) => resolve({ code, signal })),
  );
  return { child, ended, stdout: () => output.stdout, stderr: () => output.stderr };
}

/**
 * Runs `memoryd serve` without waiting for anything. Who calls must see to its end; where a test ran out of time
 * before it could, the daemon ends with the process that the test ran in.
 */
export function spawnDaemon(options: DaemonOptions): DaemonProcess {
  const messages = options.preload === undefined ? [] : ["ipc" as const];
  const flags = [...(options.flags ?? []), "--exit-with-parent"];
  return follow(
    spawn(process.execPath, serveArguments({ ...options, flags }), {
      cwd: root,
      env: plainEnvironment(),
      stdio: ["ignore", "pipe", "pipe", ...messages],
    }),
  );
}

/** Resolves with the process as a daemon once it says that it is ready; rejects with what it said when it ends. */
export async function whenReady(started: DaemonProcess, folder: string): Promise<Daemon> {
  const { child, ended, stdout, stderr } = started;
  await new Promise<void>((resolve, reject) => {
    const fail = (): void => reject(new Error(`the daemon did not start: ${stderr()}`));
    const timer = setTimeout(() => child.kill("SIGKILL"), startTimeoutMs);
    const look = (): void => {
      if (!stdout().includes("\n")) return;
      clearTimeout(timer);
      child.stdout?.off("data", look);
      resolve();
    };
    child.stdout?.on("data", look);
    void ended.then(fail);
  });
  const ready = JSON.parse(stdout().slice(0, stdout().indexOf("\n"))) as Ready;
  const tokenFile = join(folder, "operator-token");
  return {
    ...started,
    folder,
    ready,
    url: ready.url,
    socket: ready.socket,
    port: ready.url === undefined ? 0 : Number(new URL(ready.url).port),
    token: existsSync(tokenFile) ? readFileSync(tokenFile, "utf8").trim() : "",
    async stop() {
      const timer = setTimeout(() => child.kill("SIGKILL"), stopTimeoutMs);
      child.kill("SIGTERM");
      const how = await ended;
      clearTimeout(timer);
      return how;
    },
    kill() {
      child.kill("SIGKILL");
      return ended;
    },
  };
}

/** Starts a daemon and waits until it is ready. Who calls must see to its end. */
export const launchDaemon = (options: DaemonOptions): Promise<Daemon> =>
  whenReady(spawnDaemon(options), options.folder);

/** A daemon that ends with the test, in a folder of its own when none is given. */
export async function startDaemon(options: Partial<DaemonOptions> = {}): Promise<Daemon> {
  const folder = options.folder ?? temporaryFolder();
  const started = spawnDaemon({ ...options, folder });
  onTestFinished(async () => {
    started.child.kill("SIGKILL");
    await started.ended;
  });
  return whenReady(started, folder);
}

/** A folder that outlives a test; who calls must remove it. */
export const newFolder = (): string => mkdtempSync(join(realpathSync(tmpdir()), "memoryd-e2e-"));

/** A daemon for all tests of a file, started before the first one; its folder goes with it. */
export function daemonOfFile(flags: () => readonly string[] = () => []): () => Daemon {
  let daemon: Daemon | undefined;
  const folder = newFolder();
  beforeAll(async () => {
    daemon = await launchDaemon({ folder, flags: flags() });
  });
  afterAll(async () => {
    await daemon?.kill();
    rmSync(folder, { recursive: true, force: true });
  });
  return () => {
    if (daemon === undefined) throw new Error("the daemon of this file is not started yet");
    return daemon;
  };
}
