/** From ready to gone (daemon.md D4, D7, D8), with real processes and real signals. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { readDiscovery } from "../../src/config/discovery.js";
import { runDaemon } from "../../src/server/lifecycle.js";
import { until } from "../support/until.js";
import { configFor, recordingLog, startTestServer, temporaryFolder, token } from "./support.js";

type Event = { readonly event: string } & Readonly<Record<string, unknown>>;

type Daemon = {
  readonly child: ChildProcess;
  readonly events: Event[];
  readonly url: string;
  readonly folder: string;
  readonly event: (name: string) => Promise<Event>;
  /** The exit code, once it is gone. */
  readonly ended: Promise<number | null>;
  readonly call: (method: string) => Promise<unknown>;
};

const script = "test/server/daemon-process.ts";
const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };

/** Starts a daemon and waits until it is ready; `via` starts it by way of a process in between. */
async function startDaemon(flags: object = {}, via: readonly string[] = []): Promise<Daemon> {
  const folder = temporaryFolder();
  const daemon = [process.execPath, "--import", "tsx", script, folder, JSON.stringify(flags)];
  const [command = "", ...args] = via.length === 0 ? daemon : [...via, ...daemon];
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  const events: Event[] = [];
  createInterface(child.stdout).on("line", (line) => events.push(JSON.parse(line)));
  const ended = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
  const event = (name: string) => until(`"${name}" happens`, () => events.find((one) => one.event === name));
  const ready = await event("ready");
  onTestFinished(() => {
    child.kill("SIGKILL");
    try {
      process.kill(Number(ready.pid), "SIGKILL");
    } catch {
      // It is gone, as it should be.
    }
  });
  const url = String(ready.url);
  const call = (method: string) =>
    fetch(`${url}/magus.memory.v1.MemoryService/${method}`, { method: "POST", headers, body: "{}" }).catch(
      () => {},
    );
  return { child, events, url, folder, event, ended, call };
}

const names = ({ events }: Daemon) => events.map(({ event }) => event);

test.each(["SIGTERM", "SIGINT"] as const)("%s ends everything in order and exits 0 (D7)", async (signal) => {
  const daemon = await startDaemon();
  const discoveryFile = configFor(daemon.folder).paths.discoveryFile;
  expect(readDiscovery(discoveryFile)).toMatchObject({
    url: daemon.url,
    pid: daemon.child.pid,
    instance: "this-one",
  });
  expect(statSync(discoveryFile).mode & 0o777).toBe(0o600);
  daemon.child.kill(signal);
  expect(await daemon.ended).toBe(0);
  expect(names(daemon)).toEqual(["ready", "storage closes", "stopped", "exit"]);
  expect(await daemon.event("storage closes")).toMatchObject({ isFound: false, hasSocket: false });
  expect(await daemon.event("stopped")).toMatchObject({ reason: "signal" });
});

test("a second signal within half a second is the same one; the call still gets its grace (D7)", async () => {
  const daemon = await startDaemon({ "daemon.stop_grace_ms": 1_000 });
  daemon.call("GetCursor");
  await daemon.event("called");
  daemon.child.kill("SIGINT");
  daemon.child.kill("SIGINT");
  daemon.child.kill("SIGTERM");
  expect(await daemon.ended).toBe(0);
  expect(names(daemon)).toContain("storage closes");
});

test("a second signal after half a second exits at once (D7)", async () => {
  const daemon = await startDaemon({ "daemon.stop_grace_ms": 60_000 });
  daemon.call("GetCursor");
  await daemon.event("called");
  daemon.child.kill("SIGTERM");
  await sleep(600);
  daemon.child.kill("SIGTERM");
  expect(await daemon.ended).toBe(143);
  expect(names(daemon)).not.toContain("storage closes");
});

test("POST /stop ends it like a signal (D7)", async () => {
  const daemon = await startDaemon();
  const answer = await fetch(`${daemon.url}/stop`, { method: "POST", headers });
  expect(answer.status).toBe(202);
  expect(await daemon.ended).toBe(0);
  expect(await daemon.event("stopped")).toMatchObject({ reason: "request" });
});

test("an idle daemon ends after its time, and one with a call in progress does not (D8)", async () => {
  const idle = await startDaemon({ "daemon.idle_exit_seconds": 1 });
  const busy = await startDaemon({ "daemon.idle_exit_seconds": 1 });
  busy.call("GetCursor");
  await busy.event("called");
  expect(await idle.ended).toBe(0);
  expect(await idle.event("stopped")).toMatchObject({ reason: "idle" });
  await sleep(1_500);
  expect(names(busy)).toEqual(["ready", "called"]);
});

test("with --exit-with-parent it ends when who started it is gone, without it it does not (D8)", async () => {
  const between = [
    process.execPath,
    "-e",
    "require('node:child_process').spawn(process.argv[1], process.argv.slice(2), { stdio: ['ignore', 'inherit', 'inherit'] })",
    "--",
  ];
  const follower = await startDaemon({ "daemon.exit_with_parent": true }, between);
  const loner = await startDaemon({}, between);
  follower.child.kill("SIGKILL");
  loner.child.kill("SIGKILL");
  expect(await follower.event("stopped")).toMatchObject({ reason: "parent" });
  expect(names(loner)).toEqual(["ready"]);
});

test("a fault that nobody caught ends it at once, logged, and nobody is sent to it any more", async () => {
  const daemon = await startDaemon();
  daemon.call("DeleteMemory");
  expect(await daemon.ended).toBe(1);
  expect(await daemon.event("exit")).toMatchObject({ code: 1, errors: 1 });
  expect(readDiscovery(configFor(daemon.folder).paths.discoveryFile)).toBeUndefined();
});

test("when the discovery file cannot be written, nothing stays open", async () => {
  const server = await startTestServer();
  const folder = temporaryFolder();
  const discoveryFile = join(folder, "taken");
  mkdirSync(discoveryFile);
  writeFileSync(join(discoveryFile, "file"), "");
  const closed: string[] = [];
  const running = runDaemon({
    config: { ...server.config, paths: { ...server.config.paths, discoveryFile } },
    log: recordingLog().log,
    server,
    discovery: { pid: 1, startTime: "", version: "0.0.0", instance: "x" },
    closeStorage: async () => {
      closed.push("storage");
    },
    onReady: () => closed.push("ready"),
    parentProcessId: process.ppid,
  });
  await expect(running).rejects.toThrow();
  expect(closed).toEqual(["storage"]);
  await expect(fetch(`${server.url}/livez`)).rejects.toThrow();
});
