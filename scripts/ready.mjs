/**
 * Makes this folder ready to run: packages installed, dist/ built, whatever state it was left in (D27).
 *
 * Every command of package.json that needs dist/ calls it first, so it does no work twice. It and what it
 * imports must parse on a Node far older than ours, which is then refused with a sentence: no `node:`, `?.`,
 * `??` or top-level await here or in scripts/ready/.
 */
import fs from "fs";
import path from "path";
import { acquireLock } from "./ready/lock.mjs";
import { fail } from "./ready/say.mjs";
import {
  buildStamp,
  inRoot,
  installStamp,
  isBuilt,
  isInstalled,
  wasInstalledHere,
  writeStamp,
} from "./ready/stamps.mjs";
import { runStep } from "./ready/step.mjs";
import { missingTools, npmCommand } from "./ready/tools.mjs";

async function install(lock) {
  const stamp = installStamp();
  // A changed lock file over packages of this very platform needs seconds, not the minute of a whole install;
  // CI takes the strict way, which also refuses a package.json that disagrees with its lock.
  const isUpdate = !process.env.CI && wasInstalledHere();
  // npm believes this list of what is installed, which other npm commands may have falsified.
  if (isUpdate) fs.rmSync(inRoot("node_modules/.package-lock.json"), { force: true });
  const [command, args] = npmCommand([
    ...(isUpdate ? ["install", "--no-save"] : ["ci"]),
    // npm hands the flags of the outer `npm start` or `npm test` down to this one; say each again.
    "--include=dev",
    "--include=optional",
    "--ignore-scripts=false",
    "--dry-run=false",
    "--global=false",
    "--package-lock=true",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
  ]);
  const title = isUpdate
    ? "updating packages"
    : "installing packages (a minute or two the first time, SQLite is compiled)";
  const result = await runStep(title, command, args, { NODE_ENV: "development" }, lock);
  if (result.code !== 0) {
    const tools = missingTools();
    if (tools.length > 0 && /gyp/.test(result.output)) {
      fail(
        `SQLite cannot be compiled without ${tools.join(", ")}: install them ` +
          "(Debian: apt-get install python3 make g++; macOS: xcode-select --install), then run the same command again",
      );
    }
    process.stderr.write(`${result.output.trimEnd().split("\n").slice(-15).join("\n")}\n`);
    fail("npm could not install the packages, see above; then run the same command again");
  }
  writeStamp("node_modules", stamp);
}

async function build(lock) {
  const stamp = buildStamp();
  // Built beside the old one and put in its place whole, so that a running daemon or a failed build keeps it.
  fs.rmSync(inRoot("dist.new"), { recursive: true, force: true });
  const compiler = inRoot("node_modules/typescript/bin/tsc");
  const args = [compiler, "-p", "tsconfig.json", "--outDir", inRoot("dist.new")];
  const result = await runStep("building", process.execPath, args, {}, lock);
  if (result.code !== 0) {
    process.stderr.write(result.output);
    fail("the build failed, see above");
  }
  const main = inRoot("dist.new/src/main.js");
  if (fs.existsSync(main)) fs.chmodSync(main, 0o755);
  writeStamp("dist.new", stamp);
  fs.rmSync(inRoot("dist"), { recursive: true, force: true });
  fs.renameSync(inRoot("dist.new"), inRoot("dist"));
}

/** `npm start` execs the daemon, so that signals and exit codes pass through; cmd.exe knows no `exec`. */
function provideExec() {
  const file = inRoot("node_modules/.bin/exec.cmd");
  if (process.platform === "win32" && fs.existsSync(path.dirname(file))) fs.writeFileSync(file, "@%*\r\n");
}

async function main() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    fail(`this is Node ${process.versions.node}, and 20.19 or newer is needed: get one from nodejs.org`);
  }
  if (isInstalled() && isBuilt()) return;
  const lock = await acquireLock(inRoot(".ready.lock"));
  if (!isInstalled()) await install(lock);
  provideExec();
  if (!isBuilt()) await build(lock);
}

main().then(
  () => process.exit(0),
  (error) => fail(error.message),
);
