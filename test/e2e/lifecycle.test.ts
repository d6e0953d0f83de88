/** The life of a real daemon as its user sees it (daemon.md D1, D3, D4, D7, D8): files, signals, exit codes, the one line. */
import { spawn } from "node:child_process";
import { existsSync, lstatSync, readFileSync, writeFileSync } from "node:fs";
import * as http from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  type Daemon,
  follow,
  plainEnvironment,
  serveArguments,
  spawnDaemon,
  startDaemon,
  whenReady,
} from "../support/daemon.js";
import { temporaryFolder } from "../support/folder.js";
import { until } from "../support/until.js";
import { verifies } from "../support/verifies.js";
import { service } from "./door.js";
import { beginSlowCall } from "./slow-call.js";

const inFolder = ({ folder }: Daemon, name: string): string => join(folder, name);
const isThere = (daemon: Daemon, name: string): boolean => existsSync(inFolder(daemon, name));
const modeOf = (daemon: Daemon, name: string): number => lstatSync(inFolder(daemon, name)).mode & 0o777;

const beginsToStop = (daemon: Daemon): Promise<true> =>
  until("the daemon begins to stop", () => !isThere(daemon, "daemon.json"));

const gracefully = { code: 0, signal: null };

/** Nothing of a daemon that ended well is left but what it keeps. */
function expectTidy(daemon: Daemon): void {
  expect(["daemon.json", "memoryd.sock", "memoryd.db-wal"].filter((name) => isThere(daemon, name))).toEqual(
    [],
  );
  expect(isThere(daemon, "memoryd.db")).toBe(true);
}

function overSocket({ socket }: Daemon, path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    http
      .get({ socketPath: socket, path, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
      .on("error", reject);
  });
}

describe("a daemon that is ready", () => {
  verifies("D4", "is described by a file of its user's own, in the words of its ready line", async () => {
    const daemon = await startDaemon();
    const { url, socket, pid, version } = daemon.ready;
    expect(daemon.ready).toEqual({ event: "ready", url, socket, pid, version });
    expect(pid).toBe(daemon.child.pid);
    const described = JSON.parse(readFileSync(inFolder(daemon, "daemon.json"), "utf8"));
    expect(described).toMatchObject({ url, socket, pid, version });
    expect(Date.parse(described.startTime)).not.toBeNaN();
    const files = ["daemon.json", "memoryd.sock", "memoryd.db", "operator-token"];
    expect(files.map((name) => modeOf(daemon, name))).toEqual(files.map(() => 0o600));
    expect(lstatSync(daemon.folder).mode & 0o777).toBe(0o700);
    expect(await overSocket(daemon, "/livez")).toBe(200);
  });

  verifies("D1", "writes one line to stdout and never another, whatever is logged", async () => {
    for (const format of ["json", "pretty"]) {
      const daemon = await startDaemon({ flags: ["--log-level", "debug", "--log-format", format] });
      const headers = { authorization: `Bearer ${daemon.token}`, "content-type": "application/json" };
      const call = (method: string, body: string): Promise<Response> =>
        fetch(`${daemon.url}/${service}/${method}`, { method: "POST", headers, body });
      await call("UpdateCursor", '{"content":"here"}');
      await call("UpdateMemory", "{");
      await call("NoSuchMethod", "{}");
      await fetch(`${daemon.url}/metrics`, { headers });
      await fetch(`${daemon.url}/nowhere`);
      expect(await daemon.stop()).toEqual(gracefully);
      expect(daemon.stdout()).toBe(`${JSON.stringify(daemon.ready)}\n`);
      // Each of the five requests has a line, so there was something to mislay.
      expect(daemon.stderr().split("\n").length).toBeGreaterThan(5);
    }
  });
});

describe("a daemon that is told to stop", () => {
  test.each(["SIGTERM", "SIGINT"] as const)(
    "by %s answers the call that is under way, then ends well (D7)",
    async (signal) => {
      const daemon = await startDaemon();
      const call = await beginSlowCall(daemon);
      daemon.child.kill(signal);
      await beginsToStop(daemon);
      await expect(fetch(`${daemon.url}/livez`)).rejects.toThrow();
      expect(await call.finish()).toEqual({ status: 200, body: '{"content":"slow but sure"}' });
      expect(await daemon.ended).toEqual(gracefully);
      expectTidy(daemon);
    },
  );

  test("by one Ctrl-C that arrives twice still ends well", async () => {
    const daemon = await startDaemon();
    const call = await beginSlowCall(daemon);
    daemon.child.kill("SIGINT");
    daemon.child.kill("SIGINT");
    await beginsToStop(daemon);
    expect((await call.finish()).status).toBe(200);
    expect(await daemon.ended).toEqual(gracefully);
  });

  test("by a second signal ends at once, whatever is under way", async () => {
    const daemon = await startDaemon({ flags: ["--stop-grace-ms", "60000"] });
    const call = await beginSlowCall(daemon);
    const again = setInterval(() => daemon.child.kill("SIGTERM"), 50);
    onTestFinished(() => clearInterval(again));
    expect(await daemon.ended).toEqual({ code: 143, signal: null });
    await call.closed;
    const next = await startDaemon({ folder: daemon.folder });
    expect(await overSocket(next, "/readyz")).toBe(200);
  });

  test("ends a call that takes longer than the grace as unavailable", async () => {
    const daemon = await startDaemon({ flags: ["--stop-grace-ms", "100"] });
    const call = await beginSlowCall(daemon);
    expect(await daemon.stop()).toEqual(gracefully);
    expect(await call.closed).toMatch(/"code":"unavailable"/);
    expectTidy(daemon);
  });

  test("by POST /stop does so for whoever has the token, and for nobody else", async () => {
    const daemon = await startDaemon();
    const stop = (token: string): Promise<Response> =>
      fetch(`${daemon.url}/stop`, { method: "POST", headers: { authorization: `Bearer ${token}` } });
    expect((await stop("not-the-token")).status).toBe(401);
    expect((await fetch(`${daemon.url}/livez`)).status).toBe(200);
    expect((await stop(daemon.token)).status).toBe(202);
    expect(await daemon.ended).toEqual(gracefully);
    expectTidy(daemon);
  });
});

describe("a daemon that ends by itself", () => {
  test("does so when nobody has used it for --idle-exit seconds (D8)", async () => {
    const daemon = await startDaemon({ flags: ["--idle-exit", "1", "--log-format", "json"] });
    // A call under way is use, however long it takes.
    const call = await beginSlowCall(daemon);
    await sleep(1_600);
    expect(isThere(daemon, "daemon.json")).toBe(true);
    expect((await call.finish()).status).toBe(200);
    expect(await daemon.ended).toEqual(gracefully);
    expect(daemon.stderr()).toContain('"reason":"idle"');
    expectTidy(daemon);
  });

  test("does so when the process that started it is gone, with --exit-with-parent (D8)", async () => {
    const folder = temporaryFolder();
    const args = JSON.stringify(
      serveArguments({ folder, flags: ["--exit-with-parent", "--log-format", "json"] }),
    );
    const script =
      'require("node:child_process").spawn(process.execPath, JSON.parse(process.argv[1]), { stdio: "inherit" })';
    const parent = spawn(process.execPath, ["-e", script, args], {
      env: plainEnvironment(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const daemon = await whenReady(follow(parent), folder);
    const { pid } = daemon.ready;
    onTestFinished(() => {
      parent.kill("SIGKILL");
      if (isThere(daemon, "daemon.json")) process.kill(pid, "SIGKILL");
    });
    expect(pid).not.toBe(parent.pid);
    parent.kill("SIGKILL");
    // The daemon holds the other end of these pipes: they close when it is gone too.
    await daemon.ended;
    expect(daemon.stderr()).toContain('"reason":"parent"');
    expectTidy(daemon);
  });
});

describe("the socket (D3)", () => {
  test("of a daemon that was killed is replaced", async () => {
    const first = await startDaemon();
    await first.kill();
    expect([isThere(first, "memoryd.sock"), isThere(first, "daemon.json")]).toEqual([true, true]);
    const second = await startDaemon({ folder: first.folder });
    expect(second.socket).toBe(first.socket);
    expect(await overSocket(second, "/readyz")).toBe(200);
  });

  test("never takes the place of a file of somebody else's", async () => {
    const folder = temporaryFolder();
    const file = join(folder, "memoryd.sock");
    writeFileSync(file, "precious");
    const refused = spawnDaemon({ folder });
    expect(await refused.ended).toEqual({ code: 9, signal: null });
    expect(refused.stderr()).toContain(file);
    expect(refused.stdout()).toBe("");
    expect(readFileSync(file, "utf8")).toBe("precious");

    const without = await startDaemon({ folder, flags: ["--no-socket"] });
    expect(without.ready.socket).toBeUndefined();
    expect(await without.stop()).toEqual(gracefully);
    expect(readFileSync(file, "utf8")).toBe("precious");
  });

  test("can be all there is, with --no-tcp", async () => {
    const daemon = await startDaemon({ flags: ["--no-tcp"] });
    expect(daemon.ready.url).toBeUndefined();
    expect(await overSocket(daemon, "/readyz")).toBe(200);
    expect(await daemon.stop()).toEqual(gracefully);
  });
});
