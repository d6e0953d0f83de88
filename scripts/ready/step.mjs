/**
 * Runs one program of the set-up under a clock. Its output is kept back: it matters only when the step fails.
 */
import { spawn } from "child_process";
import { clearProgress, fail, say, sayProgress } from "./say.mjs";
import { inRoot } from "./stamps.mjs";

const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
const parentPid = process.ppid;

/** Answers the exit code and the output. When it is stopped, the child is stopped too and this process ends. */
export function runStep(title, command, args, environment, lock) {
  return new Promise((resolve, reject) => {
    const startedMs = Date.now();
    const chunks = [];
    let stoppedBy;

    say(`${title} …`);
    const child = spawn(command, args, {
      cwd: inRoot("."),
      env: Object.assign({}, process.env, environment),
      stdio: ["ignore", "pipe", "pipe"],
    });
    if (child.pid !== undefined) lock.nameChild(child.pid);

    const stop = (signal) => {
      stoppedBy = signal;
      child.kill(signal);
    };
    for (const signal of signals) process.on(signal, stop);
    const clock = setInterval(() => {
      // Nobody waits for the result of a set-up whose npm was killed.
      if (process.ppid !== parentPid) stop("SIGTERM");
      else sayProgress(title, Math.round((Date.now() - startedMs) / 1000));
    }, 1000);

    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => chunks.push(chunk));
    child.on("error", reject);
    child.on("close", (code) => {
      clearInterval(clock);
      clearProgress();
      for (const signal of signals) process.off(signal, stop);
      if (stoppedBy !== undefined) {
        fail("stopped; the same command goes on from here", stoppedBy === "SIGINT" ? 130 : 143);
      }
      lock.nameChild(undefined);
      resolve({ code, output: Buffer.concat(chunks).toString() });
    });
  });
}
