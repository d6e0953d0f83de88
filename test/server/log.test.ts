/** Where log lines go and what is in them (daemon.md D16). */
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { MemorydError } from "../../src/kernel/errors.js";
import { type LogOptions, openLog } from "../../src/server/log.js";
import { temporaryFolder } from "./support.js";

const run = promisify(execFile);

async function linesOnStderr(options: Partial<LogOptions>) {
  const all = { level: "info", format: "auto", isTerminal: false, ...options };
  const args = ["--import", "tsx", "test/server/log-process.ts", JSON.stringify(all)];
  const { stdout, stderr } = await run(process.execPath, args);
  return { stdout, lines: stderr.trimEnd().split("\n") };
}

async function fileLog(file: string, level: LogOptions["level"] = "info") {
  return openLog({ level, format: "auto", file, isTerminal: true });
}

const linesIn = (file: string): readonly Record<string, unknown>[] =>
  readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("on stderr", () => {
  test("lines are JSON with level, time and message, and nothing goes to stdout (D1)", async () => {
    const { stdout, lines } = await linesOnStderr({});
    expect(stdout).toBe("");
    const parsed = lines.map((line) => JSON.parse(line));
    expect(parsed.map(({ level, msg }) => [level, msg])).toEqual([
      ["info", "a line"],
      ["warn", "a warning"],
      ["error", "an error"],
    ]);
    expect(parsed[0]).toMatchObject({
      requestId: "abc",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    });
    expect(parsed[0]).not.toHaveProperty("pid");
  });

  test.each([{ format: "pretty" }, { isTerminal: true }] as const)(
    "with %o they are for people",
    async (options) => {
      const { stdout, lines } = await linesOnStderr(options);
      expect(stdout).toBe("");
      expect(lines[0]).toMatch(/a line/);
      expect(() => JSON.parse(lines[0] ?? "")).toThrow();
    },
  );

  test("the level decides what is written", async () => {
    expect((await linesOnStderr({ level: "debug" })).lines).toHaveLength(4);
    expect((await linesOnStderr({ level: "error" })).lines).toHaveLength(1);
  });
});

describe("in a file", () => {
  test("lines are JSON, in a file of 0600", async () => {
    const file = join(temporaryFolder(), "logs", "memoryd.log");
    const log = await fileLog(file);
    log.info({ count: 1 }, "first");
    log.debug({}, "unseen");
    log.info({}, "second");
    await log.close();
    expect(linesIn(file).map(({ msg }) => msg)).toEqual(["first", "second"]);
    expect((statSync(file).mode & 0o777).toString(8)).toBe("600");
  });

  test("what was there stays", async () => {
    const file = join(temporaryFolder(), "memoryd.log");
    for (const message of ["first", "second"]) {
      const log = await fileLog(file);
      log.info({}, message);
      await log.close();
    }
    expect(linesIn(file).map(({ msg }) => msg)).toEqual(["first", "second"]);
  });

  test("it turns over at 10 MiB, and three old ones are kept", async () => {
    const folder = temporaryFolder();
    const log = await fileLog(join(folder, "memoryd.log"));
    const padding = "x".repeat(1024 * 1024);
    for (let line = 0; line < 55; line += 1) {
      log.info({ line, padding }, "a long line");
      // Lines written in one turn of the event loop are one write, and so would be one turn-over.
      await new Promise((resolve) => setImmediate(resolve));
    }
    await log.close();
    const files = readdirSync(folder).sort();
    expect(files).toHaveLength(4);
    for (const name of files) {
      const { size, mode } = statSync(join(folder, name));
      expect(size).toBeLessThan(13 * 1024 * 1024);
      expect((mode & 0o777).toString(8)).toBe("600");
    }
    expect(linesIn(join(folder, "memoryd.log")).at(-1)).toMatchObject({ line: 54 });
  });

  test("one that cannot be written loses lines and nothing else", async () => {
    const folder = join(temporaryFolder(), "folder");
    mkdirSync(folder);
    const file = join(folder, "memoryd.log");
    mkdirSync(file);
    const log = await fileLog(file);
    for (let line = 0; line < 3; line += 1) {
      log.info({}, "lost");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await log.close();
    expect(statSync(file).isDirectory()).toBe(true);
  });
});

describe("what is written of", () => {
  test("an error: name, code, reason, message, stack and causes, never what it carries", async () => {
    const file = join(temporaryFolder(), "memoryd.log");
    const log = await fileLog(file);
    const cause = Object.assign(new Error("disk full"), { code: "ENOSPC", value: "stored text" });
    const error = new MemorydError("version_conflict", "Somebody was faster.", {
      reason: "STALE",
      current: { body: "stored text" },
      metadata: { etag: "1" },
      cause,
    });
    log.error({ error }, "a call failed");
    log.error({ error: "stored text" }, "thrown as a text");
    await log.close();
    expect(readFileSync(file, "utf8")).not.toContain("stored text");
    expect(linesIn(file)[0]?.error).toMatchObject({
      name: "MemorydError",
      code: "version_conflict",
      reason: "STALE",
      message: "Somebody was faster.",
      stack: expect.stringContaining("MemorydError"),
      cause: { code: "ENOSPC", message: "disk full" },
    });
  });

  test("secrets and content, should they be handed over: three stars", async () => {
    const file = join(temporaryFolder(), "memoryd.log");
    const log = await fileLog(file);
    log.info({ token: "s3cret", authorization: "s3cret", content: "s3cret", body: "s3cret" }, "oops");
    await log.close();
    expect(readFileSync(file, "utf8")).not.toContain("s3cret");
    expect(linesIn(file)[0]).toMatchObject({ token: "***", content: "***" });
  });
});
