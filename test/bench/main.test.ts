/** The benchmark runs; what it measures is no test's business. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./processes.js";

const bench = (...args: string[]) => {
  const program = ["--import", "tsx", join(root, "test/bench/main.ts"), ...args];
  return spawnSync(process.execPath, program, { cwd: root, encoding: "utf8", timeout: 50_000 });
};

test("it measures the limits in processes of their own and prints them as tables", () => {
  const only = ["--only", "platform", "--only", "storage"];
  const { status, stdout, stderr } = bench("--quick", "--seconds", "0.02", ...only);
  expect(status, stderr).toBe(0);
  expect(stdout).toContain("an fsync of one more page of a file: p50 ");
  expect(stdout).toMatch(/^\| empty answer \| node:http2 +\| +64 \|/m);
  expect(stdout).toMatch(/^\| 64 records written, one fsync +\| /m);
  expect(stderr).toContain("bench: round 1 of 1: empty answer, node:http, 64 clients");
});

test("it measures the calls on records beside the plainest way to their answers", () => {
  const { status, stdout, stderr } = bench("--quick", "--seconds", "0.02", "--only", "records");
  expect(status, stderr).toBe(0);
  expect(stdout).toMatch(/^\| a two-word name \| +1,000 \| /m);
  expect(stdout).toMatch(/^\| 1,000 refs verified, warm +\| the same, cold +\| /m);
  expect(stdout).toMatch(/^\| change received, p99 +\| its write, p99 +\| /m);
  expect(stdout).toMatch(/^\| 1,000 records imported +\| /m);
});

test("what it does not know it refuses with its usage, and tables of a partial run are not for the document", () => {
  const unknown = bench("--only", "sync");
  expect(unknown.status).toBe(2);
  expect(unknown.stderr).toContain("--only knows no part sync.\nnpm run bench -- [options]");
  expect(bench("--quick", "--write").stderr).toContain("--write needs a whole run");
});
