/**
 * Runs the suite, or the part of it that the arguments name, names every test that was skipped and why, and
 * closes with a line of its own: `N passed, N failed` (D28). With CI=true nothing may be skipped.
 */
import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { tallyFileVariable } from "./tally-reporter.mjs";

const fromHere = (name) => fileURLToPath(new URL(name, import.meta.url));

/** Runs vitest with its usual live report; answers its exit code and the tally, absent when it died before. */
async function runVitest(args) {
  const file = fromHere(`../node_modules/.memoryd-tally-${process.pid}.json`);
  const vitest = fromHere("../node_modules/vitest/vitest.mjs");
  const reporters = ["--reporter=default", `--reporter=${fromHere("tally-reporter.mjs")}`];
  const child = spawn(process.execPath, [vitest, "run", ...reporters, ...args], {
    cwd: fromHere(".."),
    env: { ...process.env, [tallyFileVariable]: file },
    stdio: "inherit",
  });
  // A signal to this process alone must not leave the suite running; the terminal's own reaches both.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  const exitCode = await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve(code ?? 1));
  });
  const tally = tallyIn(file);
  rmSync(file, { force: true });
  return { exitCode, tally };
}

function tallyIn(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}

const print = (line) => process.stdout.write(`${line}\n`);
const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Prints what was skipped; answers how many tests count as skipped. */
function reportSkipped(skipped, isPicked) {
  // With -t vitest calls every test skipped that the pattern leaves out; nobody wants to read those.
  if (isPicked || skipped.length === 0) return 0;
  print(`\n${counted(skipped.length, "test")} skipped:`);
  for (const { name, reason } of skipped) print(`  ${name}: ${reason ?? "no reason given"}`);
  return skipped.length;
}

const args = process.argv.slice(2);
const isPicked = args.some((arg) => /^(-t|--testNamePattern)(=|$)/.test(arg));
const { exitCode, tally = { passed: 0, failed: 0, skipped: [], errors: 1 } } = await runVitest(args);

const skipped = reportSkipped(tally.skipped, isPicked);
const isStrict = process.env.CI === "true";
if (isStrict && skipped > 0) print("Here nothing may be skipped: each of them counts as failed.");
if (tally.errors > 0) print(`\n${counted(tally.errors, "failure")} outside of any test, see above.`);

let failed = tally.failed + tally.errors + (isStrict ? skipped : 0);
if (exitCode !== 0 && failed === 0) {
  print(`\nvitest ended with exit code ${exitCode} though no test failed.`);
  failed = 1;
}
print("");
print(`${tally.passed} passed, ${failed} failed${!isStrict && skipped > 0 ? `, ${skipped} skipped` : ""}`);
process.exitCode = failed > 0 ? 1 : 0;
