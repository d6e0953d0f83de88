/** A daemon as a user starts it: the built program, a folder of its own, a free port. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { cleanVariables, endWithUs, root } from "./processes.js";

export type Daemon = {
  readonly pid: number;
  readonly port: number;
  readonly token: string;
  /** From the start of the process to the line that says it is ready. */
  readonly readyMs: number;
  /** Ends it as a user would; rejects when it does not end well. */
  readonly stop: () => Promise<void>;
};

const startTimeoutMs = 60_000;
const stopTimeoutMs = 15_000;

export async function startDaemon(folder: string): Promise<Daemon> {
  const program = join(root, "dist", "src", "main.js");
  const args = [program, "serve", "--json", "--exit-with-parent"];
  args.push("--data-dir", folder, "--listen", "127.0.0.1:0");
  const startedMs = performance.now();
  const child = spawn(process.execPath, args, { env: cleanVariables(), stdio: ["ignore", "pipe", "pipe"] });
  endWithUs(child, () => child.kill("SIGTERM"));
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = `${said}${text}`.slice(-2_000);
  });
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const timer = setTimeout(() => child.kill("SIGKILL"), startTimeoutMs);
  const line = await new Promise<string>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", () => reject(new Error(`the daemon did not start: ${said}`)));
    createInterface(child.stdout).once("line", resolve);
  }).finally(() => clearTimeout(timer));
  const readyMs = performance.now() - startedMs;
  const { url } = JSON.parse(line) as { url: string };
  return {
    pid: child.pid as number,
    port: Number(new URL(url).port),
    token: readFileSync(join(folder, "operator-token"), "utf8").trim(),
    readyMs,
    async stop() {
      const timer = setTimeout(() => child.kill("SIGKILL"), stopTimeoutMs);
      child.kill("SIGTERM");
      const code = await ended;
      clearTimeout(timer);
      if (code !== 0) throw new Error(`the daemon ended with exit code ${code}: ${said}`);
    },
  };
}
