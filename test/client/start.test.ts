/** The hint that somebody is starting the daemon: who may start one, and when a hint counts for nothing. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { claimStart, defaultCommand, hintLifetimeMs } from "../../src/client/start.js";
import { systemClock } from "../../src/kernel/clock.js";
import { temporaryFolder } from "../support/folder.js";

/** A process id that was somebody's and is nobody's now. */
async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ["-e", ""]);
  await new Promise((resolve) => child.once("close", resolve));
  return child.pid as number;
}

function hintOf(pid: number, ageMs = 0): string {
  const file = join(temporaryFolder(), "starting");
  writeFileSync(file, `${pid} mark`);
  const seconds = (systemClock.nowMs() - ageMs) / 1_000;
  utimesSync(file, seconds, seconds);
  return file;
}

describe("a start", () => {
  test("belongs to one at a time, until he gives it back", () => {
    const file = join(temporaryFolder(), "state", "starting");
    const claim = claimStart(file);
    expect(claim).toBeDefined();
    expect(claimStart(file)).toBeUndefined();
    claim?.release();
    expect(existsSync(file)).toBe(false);
    expect(claimStart(file)).toBeDefined();
  });

  test("of a process that lives is left to it for as long as a hint lives", () => {
    expect(claimStart(hintOf(process.pid))).toBeUndefined();
    expect(claimStart(hintOf(process.pid, hintLifetimeMs + 1_000))).toBeDefined();
  });

  test("of a process that died is taken over at once", async () => {
    expect(claimStart(hintOf(await deadPid()))).toBeDefined();
  });

  test("that takes long stays with the process that renews its hint", () => {
    const file = join(temporaryFolder(), "starting");
    const claim = claimStart(file);
    const longAgo = systemClock.nowMs() / 1_000 - 60;
    utimesSync(file, longAgo, longAgo);
    claim?.renew();
    expect(claimStart(file)).toBeUndefined();
  });

  test("dated in the future, as after a change of the clock, is taken over", () => {
    expect(claimStart(hintOf(process.pid, -3_600_000))).toBeDefined();
  });

  test("that somebody else took over is not given back by the first", () => {
    const file = join(temporaryFolder(), "starting");
    const claim = claimStart(file);
    writeFileSync(file, "another's");
    claim?.release();
    expect(readFileSync(file, "utf8")).toBe("another's");
  });
});

test("by default the daemon is this package's own program, run by this Node", () => {
  const [program, ...rest] = defaultCommand();
  expect(program).toBe(process.execPath);
  expect(existsSync(rest.at(-1) as string)).toBe(true);
});
