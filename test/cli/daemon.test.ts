/** serve (daemon.md D1, D6), status and stop (D10), and token as a person or a script runs them, with real processes. */
import { spawn } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { memorydVersion } from "../../src/config/version.js";
import { acquireOwnership } from "../../src/db/sqlite/ownership.js";
import { plainEnvironment, program, startDaemon } from "../support/daemon.js";
import { temporaryFolder } from "../support/folder.js";
import { until } from "../support/until.js";
import { memoryd } from "./command-line.js";

type Spawned = {
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly code: Promise<number | null>;
  readonly kill: (signal: NodeJS.Signals) => void;
};

/** Runs the program as a process of its own, which does not outlive the test. */
function spawnMemoryd(args: readonly string[]): Spawned {
  const child = spawn(process.execPath, [program, ...args], { cwd: tmpdir(), env: plainEnvironment() });
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      texts[name] += text;
    });
  }
  const code = new Promise<number | null>((resolve) => child.once("close", resolve));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await code;
  });
  return {
    stdout: () => texts.stdout,
    stderr: () => texts.stderr,
    code,
    kill: (signal) => child.kill(signal),
  };
}

describe("memoryd serve", () => {
  test("prints one line to click on stdout, and a first call to copy that works", async () => {
    const folder = temporaryFolder();
    const served = spawnMemoryd(["serve", "--data-dir", folder, "--listen", "127.0.0.1:0"]);
    await until("the first call is shown", () => served.stderr().includes("curl "));
    const socket = join(folder, "memoryd.sock");
    expect(served.stdout()).toMatch(
      new RegExp(
        `^memoryd ${memorydVersion} is ready at http://127\\.0\\.0\\.1:\\d+ and unix:${socket} \\(process \\d+\\)\\n$`,
      ),
    );
    const call =
      served
        .stderr()
        .split("\n")
        .find((line) => line.includes("curl ")) ?? "";
    const shell = spawn("sh", ["-c", call.replace("curl ", "curl -sS ")]);
    let answer = "";
    shell.stdout.setEncoding("utf8").on("data", (text: string) => {
      answer += text;
    });
    await new Promise((resolve) => shell.once("close", resolve));
    expect(JSON.parse(answer)).toEqual({});
    served.kill("SIGTERM");
    expect(await served.code).toBe(0);
    expect(served.stdout().split("\n")).toHaveLength(2);
  });

  test("prints exactly one JSON line with --json", async () => {
    const daemon = await startDaemon();
    expect(daemon.ready).toEqual({
      event: "ready",
      url: daemon.url,
      socket: join(daemon.folder, "memoryd.sock"),
      pid: daemon.child.pid,
      version: memorydVersion,
    });
    expect(await daemon.stop()).toMatchObject({ code: 0 });
    expect(daemon.stdout().split("\n")).toHaveLength(2);
    expect(daemon.stderr()).not.toContain("curl");
  });

  test("ends with 9 and names the daemon that owns the database, without a stack trace", async () => {
    const daemon = await startDaemon();
    const second = spawnMemoryd(["serve", "--data-dir", daemon.folder, "--listen", "127.0.0.1:0"]);
    expect(await second.code).toBe(9);
    expect(second.stderr()).toMatch(/^memoryd: .*already serves this database at http:.*\.\n$/);
    expect(second.stderr()).toContain(daemon.url);
    expect(second.stdout()).toBe("");
  });

  test("ends with 9 when the port is another program's", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    const served = spawnMemoryd(["serve", "--data-dir", temporaryFolder(), "--listen", `127.0.0.1:${port}`]);
    expect(await served.code).toBe(9);
    expect(served.stderr()).toMatch(new RegExp(`Port ${port} .* is taken by .*\\.\\n$`));
    expect(served.stderr()).not.toMatch(/\n\s+at /);
  });
});

describe("memoryd status", () => {
  test("shows what the daemon says, to people and to programs", async () => {
    const daemon = await startDaemon();
    const dir = ["--data-dir", daemon.folder];
    await memoryd(["memory", "put", "a", "--type", "pointer", "--ref", "doc:a.md", ...dir]);
    const { code, stdout } = await memoryd(["status", ...dir]);
    expect(stdout).toMatch(new RegExp(`^version +${memorydVersion}$`, "m"));
    expect(stdout).toMatch(new RegExp(`^url +${daemon.url}$`, "m"));
    expect(stdout).toMatch(/^uptime +\d+ s$/m);
    expect(stdout).toMatch(/^database +\d+ KiB$/m);
    expect(stdout).toMatch(/^memory records +1$/m);
    expect(code).toBe(0);
    const json = (await memoryd(["status", "--json", ...dir])).json();
    expect(json).toMatchObject({
      version: memorydVersion,
      pid: daemon.child.pid,
      engine: "sqlite",
      memory: { records: 1 },
    });
  });

  test("ends with 9 where none runs, and starts none", async () => {
    const folder = join(temporaryFolder(), "none");
    const { code, error } = await memoryd(["status", "--json", "--data-dir", folder]);
    expect(error()).toMatchObject({ code: "unavailable", reason: "DAEMON_NOT_RUNNING" });
    expect(code).toBe(9);
    expect(existsSync(folder)).toBe(false);
  });

  test("names the process of a daemon that does not answer", async () => {
    const daemon = await startDaemon();
    daemon.child.kill("SIGSTOP");
    for (const command of ["status", "stop"]) {
      const { code, stderr } = await memoryd([command, "--data-dir", daemon.folder]);
      expect(stderr).toContain(`The daemon (process ${daemon.child.pid}) does not answer`);
      expect(code).toBe(9);
    }
    daemon.child.kill("SIGCONT");
  });
});

describe("memoryd stop", () => {
  test("returns when the daemon is gone, and its database can be owned at once", async () => {
    const daemon = await startDaemon();
    const { code, stdout } = await memoryd(["stop", "--data-dir", daemon.folder]);
    expect(stdout).toBe(`The daemon (process ${daemon.child.pid}) has stopped.\n`);
    expect(code).toBe(0);
    expect(existsSync(join(daemon.folder, "daemon.json"))).toBe(false);
    expect(await daemon.ended).toEqual({ code: 0, signal: null });
    await startDaemon({ folder: daemon.folder });
  });

  test("waits while a call may still finish, and says so", async () => {
    const daemon = await startDaemon({ flags: ["--stop-grace-ms", "3000"] });
    const unfinished = connect(daemon.port, "127.0.0.1");
    unfinished
      .on("error", () => {})
      .write(
        [
          "POST /magus.memory.v1.MemoryService/GetCursor HTTP/1.1",
          "Host: 127.0.0.1",
          `Authorization: Bearer ${daemon.token}`,
          "Content-Type: application/json",
          "Content-Length: 100",
          "\r\n{",
        ].join("\r\n"),
      );
    onTestFinished(() => void unfinished.destroy());
    const isOpen = async (): Promise<boolean> =>
      (await memoryd(["status", "--data-dir", daemon.folder])).code === 0;
    await until("the daemon has the call", isOpen);
    const { code, stderr } = await memoryd(["stop", "--data-dir", daemon.folder]);
    acquireOwnership(join(daemon.folder, "memoryd.db")).release();
    expect(stderr).toBe(
      `The daemon (process ${daemon.child.pid}) is finishing what it began; waiting for it.\n`,
    );
    expect(code).toBe(0);
  });

  test("has nothing to do where none runs, and succeeds", async () => {
    const folder = join(temporaryFolder(), "none");
    expect(await memoryd(["stop", "--data-dir", folder])).toMatchObject({ code: 0, stderr: "" });
    expect((await memoryd(["stop", "--json", "--data-dir", folder])).json()).toEqual({ stopped: false });
    expect(existsSync(folder)).toBe(false);
  });

  test("stops a daemon elsewhere by --url, for who has the right to", async () => {
    const daemon = await startDaemon();
    const args = ["stop", "--json", "--url", daemon.url, "--data-dir", join(temporaryFolder(), "none")];
    expect((await memoryd(args)).code).toBe(8);
    const stopped = await memoryd([...args, "--token-file", join(daemon.folder, "operator-token")]);
    expect(stopped.json()).toEqual({ stopped: true });
    expect(await daemon.ended).toMatchObject({ code: 0 });
  });
});

describe("memoryd token show", () => {
  test("prints the token alone, made when there is none", async () => {
    const folder = join(temporaryFolder(), "fresh");
    const { code, stdout, stderr } = await memoryd(["token", "show", "--data-dir", folder]);
    expect(stdout).toMatch(/^[\w-]{43}\n$/);
    expect(stderr).toBe("");
    expect(code).toBe(0);
    const file = join(folder, "operator-token");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect((await memoryd(["token", "show", "--json", "--data-dir", folder])).json()).toEqual({
      file,
      token: stdout.trim(),
    });
  });
});

test("a memory command starts the daemon that it needs, which stays", async () => {
  const folder = temporaryFolder();
  onTestFinished(async () => {
    await memoryd(["stop", "--data-dir", folder]);
  });
  const put = spawnMemoryd([
    "memory",
    "put",
    "a",
    "--type",
    "pointer",
    "--ref",
    "doc:a.md",
    "--data-dir",
    folder,
  ]);
  expect(await put.code).toBe(0);
  expect((await memoryd(["status", "--data-dir", folder])).code).toBe(0);
  expect(put.stderr()).toBe("");
});

test("a reader that leaves early is no fault", async () => {
  const daemon = await startDaemon();
  const body = "x".repeat(60_000);
  for (const name of ["a", "b", "c", "d"]) {
    const args = ["memory", "put", name, "--type", "plan", "--ref", "doc:a", "--body", body];
    expect((await memoryd([...args, "--data-dir", daemon.folder])).code).toBe(0);
  }
  const command = [process.execPath, program, "memory", "ls", "--json", "--data-dir", daemon.folder];
  const shell = spawn("bash", ["-c", 'set -o pipefail; "$@" | head -c 1', "bash", ...command], {
    cwd: tmpdir(),
    env: plainEnvironment(),
  });
  let stderr = "";
  shell.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  expect(await new Promise((resolve) => shell.once("close", resolve))).toBe(0);
  expect(stderr).toBe("");
});
