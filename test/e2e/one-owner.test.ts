/** One daemon owns a database (daemon.md D5, D6): a second one is refused, and fifty programs that need one get the same. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { readDiscovery } from "../../src/config/discovery.js";
import { acquireOwnership } from "../../src/db/sqlite/ownership.js";
import { compile } from "../support/compile.js";
import { plainEnvironment, spawnDaemon, startDaemon } from "../support/daemon.js";
import { temporaryFolder } from "../support/folder.js";
import { until } from "../support/until.js";
import { verifies } from "../support/verifies.js";
import { service } from "./door.js";

// Fifty programs at once keep a small machine busy for a while.
vi.setConfig({ testTimeout: 180_000 });

describe("a second daemon on the same database", () => {
  const answers = async ({ url, token }: { url: string; token: string }): Promise<boolean> => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const response = await fetch(`${url}/${service}/GetCursor`, { method: "POST", headers, body: "{}" });
    return response.ok;
  };

  test.each([
    { kind: "in the same folder", flags: () => [] },
    {
      kind: "in another folder that names the same file",
      flags: (folder: string) => ["--database-url", `sqlite:${join(folder, "memoryd.db")}`],
    },
  ])("$kind ends with code 9, and the first is unharmed", async ({ kind, flags }) => {
    const first = await startDaemon();
    const sameFolder = kind === "in the same folder";
    const folder = sameFolder ? first.folder : temporaryFolder();
    const before = readFileSync(join(first.folder, "daemon.json"), "utf8");
    const second = spawnDaemon({ folder, flags: flags(first.folder) });
    expect(await second.ended).toEqual({ code: 9, signal: null });
    expect(second.stdout()).toBe("");
    const said = second.stderr().trim().split("\n").at(-1) ?? "";
    const { error } = JSON.parse(said);
    expect([error.code, error.reason]).toEqual(["unavailable", "DATABASE_OWNED"]);
    expect(error.message).toContain(sameFolder ? first.url : join(first.folder, "memoryd.db"));
    expect(await answers(first)).toBe(true);
    expect(readFileSync(join(first.folder, "daemon.json"), "utf8")).toBe(before);
  });

  test("may follow at once when the first was killed", async () => {
    const first = await startDaemon();
    await first.kill();
    const second = await startDaemon({ folder: first.folder });
    expect(second.token).toBe(first.token);
    expect(await answers(second)).toBe(true);
  });
});

describe("fifty programs that call ensureDaemon() at once", () => {
  const compiled = mkdtempSync(join(tmpdir(), "memoryd-compiled-"));
  afterAll(() => rmSync(compiled, { recursive: true, force: true }));
  // With the program beside it, so that what is started is memoryd itself, as in an installed package.
  const [ensureOnce] = compile(["test/support/ensure-once.ts", "src/main.ts"], compiled) as [string];
  const callers = 50;
  const timeoutMs = 90_000;

  type Caller = { readonly go: () => Promise<{ code: number | null; stdout: string; stderr: string }> };

  /** Waits for its standard input to end, then asks for the daemon. */
  function prepareCaller(folder: string): Caller {
    const child: ChildProcessWithoutNullStreams = spawn(
      process.execPath,
      [ensureOnce, folder, String(timeoutMs)],
      { env: plainEnvironment() },
    );
    onTestFinished(() => void child.kill("SIGKILL"));
    const output = { stdout: "", stderr: "" };
    for (const stream of ["stdout", "stderr"] as const) {
      child[stream].setEncoding("utf8").on("data", (text: string) => {
        output[stream] += text;
      });
    }
    const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
    return {
      go: async () => {
        child.stdin.end();
        return { code: await ended, ...output };
      },
    };
  }

  const isAlive = (pid: number): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  // On an empty folder: `test/client/ensure.test.ts`.
  verifies("D5", "right after kill -9 they get fifty answers from one new daemon", async () => {
    const { folder, kill, ready } = await startDaemon();
    // Nobody else ends a daemon that was started in the background.
    onTestFinished(() => {
      const left = readDiscovery(join(folder, "daemon.json"));
      if (left !== undefined && isAlive(left.pid)) process.kill(left.pid, "SIGKILL");
    });
    const prepared = Array.from({ length: callers }, () => prepareCaller(folder));
    await kill();
    const endings = await Promise.all(prepared.map(({ go }) => go()));
    const found = readDiscovery(join(folder, "daemon.json"));
    expect(endings.filter(({ code }) => code !== 0)).toEqual([]);
    const answers = endings.map(({ stdout }) => JSON.parse(stdout));
    expect(answers).toEqual(answers.map(() => ({ pid: found?.pid, content: "" })));
    expect(found?.pid).not.toBe(ready.pid);
    process.kill(found?.pid as number, "SIGTERM");
    await until("the daemon is gone", () => !isAlive(found?.pid as number));
    // Had there been another beside it, that one would own the database.
    acquireOwnership(join(folder, "memoryd.db")).release();
  });
});
