/**
 * How the suite is run and reported (D28): the real script and the real vitest, on small suites of their own.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/folder.js";

const repository = fileURLToPath(new URL("../..", import.meta.url));

type Report = { readonly code: number | null; readonly lines: readonly string[] };

/** Runs scripts/test.mjs over one test file with this text. */
function report(
  suite: string,
  environment: Readonly<Record<string, string>> = {},
  args: string[] = [],
): Report {
  const folder = temporaryFolder();
  cpSync(join(repository, "scripts"), join(folder, "scripts"), { recursive: true });
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(join(repository, "node_modules/vitest"), join(folder, "node_modules/vitest"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(join(folder, "some.test.js"), `import { expect, test } from "vitest";\n${suite}`);
  const { status, stdout } = spawnSync(process.execPath, [join(folder, "scripts/test.mjs"), ...args], {
    encoding: "utf8",
    env: { ...process.env, VITEST: "", CI: "", ...environment },
  });
  return { code: status, lines: stdout.trimEnd().split("\n") };
}

const passing = 'test("holds", () => {});';
const skipping = 'test("needs a browser", (context) => context.skip("no Chromium is found"));';

test("a suite that passes says so in its last line", () => {
  const { code, lines } = report(passing);
  expect(code).toBe(0);
  expect(lines.at(-1)).toBe("1 passed, 0 failed");
});

test("what was skipped is named with its reason", () => {
  const { code, lines } = report(`${passing}\n${skipping}\ntest.todo("later");`);
  expect(code).toBe(0);
  expect(lines).toContain("2 tests skipped:");
  expect(lines).toContain("  some.test.js > needs a browser: no Chromium is found");
  expect(lines).toContain("  some.test.js > later: no reason given");
  expect(lines.at(-1)).toBe("1 passed, 0 failed, 2 skipped");
});

test("in CI a skipped test is a failed one", () => {
  const { code, lines } = report(`${passing}\n${skipping}`, { CI: "true" });
  expect(code).toBe(1);
  expect(lines).toContain("  some.test.js > needs a browser: no Chromium is found");
  expect(lines.at(-1)).toBe("1 passed, 1 failed");
});

test("tests that -t leaves out are not named as skipped", () => {
  const { code, lines } = report(`${passing}\ntest("is left out", () => {});`, { CI: "true" }, [
    "-t",
    "holds",
  ]);
  expect(code).toBe(0);
  expect(lines.at(-1)).toBe("1 passed, 0 failed");
});

test.each([
  ["a test that fails", `${passing}\ntest("fails", () => expect(1).toBe(2));`, "1 passed, 1 failed"],
  ["a file that does not load", 'throw new Error("cannot load");', "0 passed, 1 failed"],
  [
    "an error that no test caught",
    'test("looks fine", () => { setTimeout(() => { throw new Error("late"); }); });',
    "1 passed, 1 failed",
  ],
  [
    "a process that dies",
    'test("ends all", () => process.kill(process.ppid, "SIGKILL"));',
    "0 passed, 1 failed",
  ],
])("%s is counted", (_title, suite, lastLine) => {
  const { code, lines } = report(suite);
  expect(code).toBe(1);
  expect(lines.at(-1)).toBe(lastLine);
});

test("no tests at all is a failure", () => {
  const { code, lines } = report(passing, {}, ["no-such-file"]);
  expect(code).toBe(1);
  expect(lines.at(-1)).toBe("0 passed, 1 failed");
});
