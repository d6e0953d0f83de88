/** ensureDaemon() (daemon.md D5): one daemon whatever happens, or the reason why there is none. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { ensureDaemon } from "../../src/client/ensure.js";
import { findDaemon } from "../../src/client/find.js";
import { hintLifetimeMs } from "../../src/client/start.js";
import { readDiscovery, readStartFailure, writeStartFailure } from "../../src/config/discovery.js";
import { acquireOwnership } from "../../src/db/sqlite/ownership.js";
import { systemClock } from "../../src/kernel/clock.js";
import { until } from "../support/until.js";
import { verifies } from "../support/verifies.js";
import {
  createInstance,
  cursorOf,
  type Instance,
  isAlive,
  prepareCaller,
  runStandIn,
  standInCommand,
} from "./support.js";

afterEach(() => vi.unstubAllEnvs());

const ensure = (instance: Instance, ...how: string[]) =>
  ensureDaemon({ config: instance.config, command: standInCommand(...how) });

/** How long a promise took to fail, and with what. */
async function failureOf(promise: Promise<unknown>): Promise<{ error: Error; tookMs: number }> {
  const beganMs = performance.now();
  try {
    await promise;
  } catch (error) {
    return { error: error as Error, tookMs: performance.now() - beganMs };
  }
  throw new Error("it did not fail");
}

describe("ensureDaemon()", () => {
  verifies("D5", "called by fifty processes at once gives one daemon and fifty answers", async () => {
    const instance = createInstance();
    const callers = Array.from({ length: 50 }, () => prepareCaller(instance));
    const endings = await Promise.all(callers.map(({ go }) => go()));
    expect(endings.filter(({ code }) => code !== 0)).toEqual([]);
    const pids = new Set(endings.map(({ stdout }) => JSON.parse(stdout).pid));
    const { discoveryFile, logFile } = instance.config.paths;
    const daemon = readDiscovery(discoveryFile);
    expect(pids).toEqual(new Set([daemon?.pid]));
    process.kill(daemon?.pid as number, "SIGTERM");
    await until("it is gone", () => !isAlive(daemon?.pid as number));
    expect(readFileSync(logFile, "utf8").match(/is ready at/g)).toHaveLength(1);
  });

  test("called by many processes at once starts few daemons that are refused", async () => {
    const instance = createInstance();
    const callers = Array.from({ length: 20 }, () => prepareCaller(instance, standInCommand()));
    const endings = await Promise.all(callers.map(({ go }) => go()));
    expect(endings.filter(({ code }) => code !== 0)).toEqual([]);
    expect(instance.ready()).toHaveLength(1);
    // How many is a matter of the machine's load; that it is not all of them is the hint's doing.
    expect(instance.spawned().length).toBeLessThan(callers.length / 2);
  });

  test("started by none: the daemon outlives its starter, in its own folder, with its own log", async () => {
    const instance = createInstance();
    const { stdout, code } = await prepareCaller(instance, standInCommand()).go();
    expect(code).toBe(0);
    const { pid, content } = JSON.parse(stdout);
    expect(isAlive(pid)).toBe(true);
    const { folder, logFile } = JSON.parse(content);
    expect([folder, logFile]).toEqual([instance.folder, join(instance.folder, "memoryd.log")]);
    expect(existsSync(join(instance.folder, "starting"))).toBe(false);
  });

  test("attaches to the daemon that runs", async () => {
    const instance = createInstance();
    runStandIn(instance);
    const { pid } = await until("it runs", () => readDiscovery(instance.config.paths.discoveryFile));
    using daemon = await ensure(instance);
    expect(daemon.pid).toBe(pid);
    expect(instance.spawned()).toEqual([pid]);
  });

  test("gives the daemon the configuration of its starter, but neither its token nor its NODE_OPTIONS", async () => {
    vi.stubEnv("NODE_OPTIONS", "--no-deprecation");
    vi.stubEnv("MEMORYD_TOKEN", "a-token-of-the-client");
    const instance = createInstance({ "memory.max_records": 77, "client.token": "a-token-of-the-client" });
    using daemon = await ensure(instance);
    expect(await cursorOf(daemon.transport)).toMatchObject({
      inherited: [],
      maxRecords: 77,
      authorization: "Bearer a-token-of-the-client",
    });
  });

  test("waits for a daemon that is slow to start", async () => {
    const instance = createInstance();
    using daemon = await ensure(instance, "--slow-ms", "1500");
    expect(instance.ready()).toEqual([daemon.pid]);
  });

  test("starts a new one where a killed daemon left its files behind", async () => {
    const instance = createInstance();
    const child = runStandIn(instance);
    await until("it runs", () => readDiscovery(instance.config.paths.discoveryFile));
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("close", resolve));
    using daemon = await ensure(instance);
    expect(daemon.pid).not.toBe(child.pid);
    expect((await cursorOf(daemon.transport)).pid).toBe(daemon.pid);
  });

  test("called many times at once in one process gives one daemon", async () => {
    const instance = createInstance();
    const daemons = await Promise.all(Array.from({ length: 10 }, () => ensure(instance)));
    expect(new Set(daemons.map(({ pid }) => pid)).size).toBe(1);
    for (const daemon of daemons) daemon.close();
  });
});

describe("a starter that died", () => {
  test("is not waited for longer than a hint lives, even if its process id was reused", async () => {
    const instance = createInstance();
    const { startingFile } = instance.config.paths;
    writeFileSync(startingFile, `${process.pid} mark`);
    const beganMs = performance.now();
    using daemon = await ensure(instance);
    expect(performance.now() - beganMs).toBeGreaterThan(hintLifetimeMs / 2);
    expect(instance.ready()).toEqual([daemon.pid]);
  });

  test("was killed after it had started the daemon, and the others still get it", async () => {
    const instance = createInstance();
    const starter = prepareCaller(instance, standInCommand("--slow-ms", "700"));
    const ended = starter.go();
    await until("the daemon was spawned", () => instance.spawned().length > 0);
    starter.process.kill("SIGKILL");
    await ended;
    using daemon = await ensure(instance, "--slow-ms", "700");
    expect(instance.ready()).toEqual([daemon.pid]);
  });
});

describe("a daemon that cannot start", () => {
  test("says why, and all who wait hear it at once", async () => {
    const instance = createInstance();
    const command = standInCommand("--fail-with", "PORT_TAKEN");
    const callers = Array.from({ length: 5 }, () => prepareCaller(instance, command));
    for (const { code, stderr } of await Promise.all(callers.map(({ go }) => go()))) {
      expect(code).toBe(1);
      expect(stderr).toMatch(/The daemon could not start\. It was told to fail\./);
    }
  });

  test("is reported as unavailable with its reason", async () => {
    const { error, tookMs } = await failureOf(ensure(createInstance(), "--fail-with", "PORT_TAKEN"));
    expect(error).toMatchObject({ code: "unavailable", reason: "PORT_TAKEN" });
    expect(tookMs).toBeLessThan(10_000);
  });

  test("and dies without a word is spoken for by its starter, who names the log", async () => {
    const instance = createInstance();
    const { error } = await failureOf(ensure(instance, "--break-at-once"));
    expect(error).toMatchObject({ code: "unavailable", reason: "START_FAILED" });
    expect(error.message).toContain("exit code 7");
    expect(error.message).toContain(instance.config.paths.logFile);
  });

  test("because its program is missing is reported as well", async () => {
    const { config } = createInstance();
    const { error } = await failureOf(ensureDaemon({ config, command: ["/nowhere/node"] }));
    expect(error).toMatchObject({ code: "unavailable", reason: "START_FAILED" });
    expect(error.message).toContain("ENOENT");
  });

  test("once is tried again by the next call", async () => {
    const instance = createInstance();
    await failureOf(ensure(instance, "--fail-with", "PORT_TAKEN"));
    using daemon = await ensure(instance);
    expect(instance.ready()).toEqual([daemon.pid]);
  });

  test("long ago is no reason to fail now", async () => {
    const instance = createInstance();
    const at = systemClock.nowMs() - 60_000;
    writeStartFailure(instance.config.paths.startFailureFile, { at, reason: "PORT_TAKEN", message: "Old." });
    using daemon = await ensure(instance);
    expect(instance.ready()).toEqual([daemon.pid]);
  });

  test("in a folder that cannot be one is a failed precondition that names the folder", async () => {
    const { folder } = createInstance();
    writeFileSync(join(folder, "file"), "");
    const inside = join(folder, "file", "below");
    const broken = createInstance({ data_dir: inside });
    const { error } = await failureOf(ensure(broken));
    expect(error).toMatchObject({ code: "failed_precondition", reason: "FOLDER_NOT_WRITABLE" });
    expect(error.message).toContain(inside);
  });

  test("in time is reported with the time it had", async () => {
    const instance = createInstance({ "client.start_timeout_ms": 300 });
    const { error } = await failureOf(ensure(instance, "--slow-ms", "60000"));
    expect(error).toMatchObject({ code: "unavailable", reason: "START_TIMEOUT" });
    expect(error.message).toContain("300 ms");
  });
});

describe("a database that somebody owns", () => {
  test("and lets go of is waited for", async () => {
    const instance = createInstance();
    const ownership = acquireOwnership(instance.config.paths.databaseFile as string);
    const waiting = ensure(instance);
    const { startFailureFile } = instance.config.paths;
    await until("one was refused", () => readStartFailure(startFailureFile)?.reason === "DATABASE_OWNED");
    ownership.release();
    using daemon = await waiting;
    expect(instance.ready()).toEqual([daemon.pid]);
  });

  test("and keeps is reported when the time is up, in the words of the daemon that was refused", async () => {
    const instance = createInstance({ "client.start_timeout_ms": 4_000 });
    const ownership = acquireOwnership(instance.config.paths.databaseFile as string);
    onTestFinished(() => ownership.release());
    const { error } = await failureOf(ensure(instance));
    expect(error).toMatchObject({ code: "unavailable", reason: "DATABASE_OWNED" });
    expect(error.message).toMatch(/cannot be found from here\. Another memoryd owns/);
  });

  test("by a daemon that is stopped in its tracks is reported with its process id", async () => {
    const instance = createInstance({ "client.start_timeout_ms": 1_000 });
    const child = runStandIn(instance);
    await until("it runs", () => readDiscovery(instance.config.paths.discoveryFile));
    child.kill("SIGSTOP");
    const { error } = await failureOf(ensure(instance));
    expect(error).toMatchObject({ code: "unavailable", reason: "DAEMON_SILENT" });
    expect(error.message).toContain(`process ${child.pid}`);
  });
});

describe("a daemon that was ensured", () => {
  test("is ensured again when a call finds nobody", async () => {
    const instance = createInstance();
    using daemon = await ensure(instance);
    const before = daemon.pid as number;
    process.kill(before, "SIGKILL");
    await until("it is gone", async () => (await findDaemon(instance.config)) === undefined);
    const answers = await Promise.all(Array.from({ length: 5 }, () => cursorOf(daemon.transport)));
    expect(new Set(answers.map(({ pid }) => pid))).toEqual(new Set([daemon.pid]));
    expect(daemon.pid).not.toBe(before);
    expect(instance.ready()).toHaveLength(2);
  });

  test("answers every read while it is restarted, those in progress too", async () => {
    const instance = createInstance();
    using daemon = await ensure(instance);
    const before = daemon.pid as number;
    const readOn = async (): Promise<void> => {
      while ((await cursorOf(daemon.transport)).pid === before);
    };
    const readers = Array.from({ length: 20 }, readOn);
    await cursorOf(daemon.transport);
    process.kill(before, "SIGKILL");
    await Promise.all(readers);
    expect(instance.ready()).toHaveLength(2);
  });

  test("is left alone once it was closed", async () => {
    const instance = createInstance();
    const daemon = await ensure(instance);
    daemon.close();
    process.kill(daemon.pid as number, "SIGKILL");
    await until("it is gone", async () => (await findDaemon(instance.config)) === undefined);
    await failureOf(cursorOf(daemon.transport));
    expect(instance.ready()).toHaveLength(1);
  });

  test("may end without that being a failure to start", async () => {
    const instance = createInstance();
    using daemon = await ensure(instance);
    process.kill(daemon.pid as number, "SIGTERM");
    await until("it is gone", () => !isAlive(daemon.pid as number));
    expect(existsSync(instance.config.paths.startFailureFile)).toBe(false);
  });
});

describe("with client.url", () => {
  test("none is started, whatever is there", async () => {
    const instance = createInstance({ "client.url": "http://127.0.0.1:1" });
    const { error } = await failureOf(ensure(instance));
    expect(error).toMatchObject({ code: "unavailable", reason: "DAEMON_NOT_FOUND" });
    expect(instance.spawned()).toEqual([]);
    expect(existsSync(join(instance.folder, "starting"))).toBe(false);
  });

  test("the daemon there is used", async () => {
    const there = createInstance();
    using daemon = await ensure(there);
    const here = createInstance({
      "client.url": daemon.url,
      "client.token_file": there.config.paths.tokenFile,
    });
    using remote = await ensure(here);
    expect((await cursorOf(remote.transport)).pid).toBe(daemon.pid);
    expect(here.spawned()).toEqual([]);
    expect(readFileSync(there.config.paths.tokenFile, "utf8")).not.toBe("");
  });
});
