/** `memoryd memory watch` as a process of its own beside real daemons: what it prints, how it survives them, how it ends. */
import { spawn } from "node:child_process";
import { describe, expect, onTestFinished, test } from "vitest";
import { root } from "../support/compile.js";
import { plainEnvironment, program, startDaemon } from "../support/daemon.js";
import { until } from "../support/until.js";
import { memoryd } from "./command-line.js";

/** Runs `memoryd memory watch` on the daemon of a folder. */
function spawnWatch(folder: string, args: readonly string[] = []) {
  const all = [program, "memory", "watch", "--data-dir", folder, ...args];
  const env = { ...plainEnvironment(), MEMORYD_WORKSPACE: "watched" };
  const child = spawn(process.execPath, all, { cwd: root, env });
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
  const lines = (): string[] => texts.stdout.split("\n").slice(0, -1);
  return {
    lines,
    /** Once there are so many. */
    linesOf: (count: number) => until(`it printed ${count} lines`, () => lines().length >= count && lines()),
    stderr: () => texts.stderr,
    stdout: () => texts.stdout,
    code,
    interrupt: async () => {
      child.kill("SIGINT");
      return await code;
    },
  };
}

/** A watch for programs that has begun, and where. */
async function watchFrom(folder: string) {
  const watch = spawnWatch(folder, ["--json"]);
  const [ready = ""] = await watch.linesOf(1);
  return { watch, position: String(JSON.parse(ready).position) };
}

/** Runs `memoryd memory …` on the daemon of a folder. */
const memoryIn =
  (folder: string) =>
  async (...args: readonly string[]) => {
    const ran = await memoryd(["memory", ...args, "--data-dir", folder], {
      variables: { MEMORYD_WORKSPACE: "watched" },
    });
    expect(ran.stderr).toBe("");
    return ran;
  };

const ref = ["--ref", "doc:docs/api.md"];

describe("memoryd memory watch", () => {
  test("prints a line for each change, and ends cleanly at Ctrl-C", async () => {
    const { folder, stop } = await startDaemon();
    const memory = memoryIn(folder);
    await memory("put", "before", "--type", "pointer", ...ref);
    const { watch, position } = await watchFrom(folder);
    const people = spawnWatch(folder, ["--position", position, "--cursor"]);
    await memory("put", "api", "--type", "plan", ...ref, "--body", "First\nthen");
    await memory("cursor", "set", "next: the codec");
    await memory("put", "api", "--patch", "--status", "done");
    await memory("delete", "api");
    expect((await people.linesOf(4)).map((line) => line.replace(/^\S+Z/, "TIME"))).toEqual([
      expect.stringMatching(/^TIME {2}created {3}api {2}by \S+$/),
      expect.stringMatching(/^TIME {2}created {3}\(cursor\) {2}by \S+$/),
      expect.stringMatching(/^TIME {2}updated {3}api {2}by \S+$/),
      expect.stringMatching(/^TIME {2}deleted {3}api {2}by \S+$/),
    ]);
    const messages = (await watch.linesOf(4)).map((line) => JSON.parse(line));
    expect(messages.map(({ ready, change }) => (ready ? "ready" : change.kind))).toEqual([
      "ready",
      "CHANGE_KIND_CREATED",
      "CHANGE_KIND_UPDATED",
      "CHANGE_KIND_DELETED",
    ]);
    const records = spawnWatch(folder, ["--position", position, "--records"]);
    await until("the records came along", () => /^ {4}status +done$/m.test(records.stdout()));
    expect(records.stdout()).toContain("    First\n    then\n");
    expect(await Promise.all([watch.interrupt(), people.interrupt(), records.interrupt()])).toEqual([
      0, 0, 0,
    ]);
    expect([watch.stderr(), people.stderr(), records.stderr()]).toEqual(["", "", ""]);
    expect((await stop()).code).toBe(0);
  });

  test("goes on by itself when the daemon was stopped or killed and is back, and starts none", async () => {
    const first = await startDaemon();
    const { folder } = first;
    const memory = memoryIn(folder);
    const { watch, position } = await watchFrom(folder);
    const people = spawnWatch(folder, ["--position", position]);
    await memory("put", "a", "--type", "pointer", ...ref);
    await Promise.all([watch.linesOf(2), people.linesOf(1)]);
    expect((await first.stop()).code).toBe(0);
    await until("it says so", () => people.stderr().includes("went away"));
    const second = await startDaemon({ folder });
    await memory("put", "b", "--type", "pointer", ...ref);
    await Promise.all([watch.linesOf(4), people.linesOf(2)]);
    await second.kill();
    await startDaemon({ folder });
    await memory("put", "c", "--type", "pointer", ...ref);
    const messages = (await watch.linesOf(6)).map((line) => JSON.parse(line));
    expect(messages.map(({ change }) => change?.name ?? "ready")).toEqual([
      "ready",
      "a",
      "ready",
      "b",
      "ready",
      "c",
    ]);
    expect((await people.linesOf(3)).map((line) => line.split(/ +/)[2])).toEqual(["a", "b", "c"]);
    expect(people.stderr().match(/went away/g)).toHaveLength(2);
    expect(people.stderr().match(/daemon is back/g)).toHaveLength(2);
    expect(await Promise.all([watch.interrupt(), people.interrupt()])).toEqual([0, 0]);
    expect(watch.stderr()).toBe("");
  });

  test("waits for a daemon until Ctrl-C, which then ends it too", async () => {
    const { folder, stop } = await startDaemon();
    const { watch: other, position } = await watchFrom(folder);
    const watch = spawnWatch(folder, ["--position", position]);
    await memoryIn(folder)("put", "a", "--type", "pointer", ...ref);
    await watch.linesOf(1);
    await stop();
    await until("it says so", () => watch.stderr().includes("went away"));
    expect(await Promise.all([watch.interrupt(), other.interrupt()])).toEqual([0, 0]);
    const status = await memoryd(["status", "--data-dir", folder]);
    expect(status.code).toBe(9);
  });

  test("says what is wrong with a position, and what to do after a reset", async () => {
    const { folder } = await startDaemon();
    const refused = await memoryd(["memory", "watch", "--position", "zzz", "--data-dir", folder, "--json"]);
    expect([refused.code, refused.error().code]).toEqual([2, "invalid_argument"]);
    const watch = spawnWatch(folder, ["--position", `${"f".repeat(32)}.7`]);
    await until("it says so", () => watch.stderr().includes("memoryd memory ls"));
    expect(await watch.interrupt()).toBe(0);
  });
});
