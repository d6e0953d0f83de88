/**
 * What `npm pack` makes serves in a folder of its own (D29). The packages that it depends on are linked there
 * instead of installed, so that no registry is needed; `.ci/run` installs them.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "./support/folder.js";

const run = promisify(execFile);
const repository = fileURLToPath(new URL("..", import.meta.url));

/** The package as npm would unpack it; answers its folder in node_modules. */
async function installPackage(folder: string): Promise<string> {
  const pack = ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder];
  const { stdout } = await run("npm", pack, { cwd: repository });
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, "memoryd"), { recursive: true });
  const tarball = join(folder, stdout.trim());
  await run("tar", ["-xzf", tarball, "--strip-components=1", "-C", join(modules, "memoryd")]);
  const { dependencies } = JSON.parse(readFileSync(join(modules, "memoryd/package.json"), "utf8"));
  const linked = new Set(Object.keys(dependencies).map((name) => name.split("/")[0] as string));
  for (const name of linked) symlinkSync(join(repository, "node_modules", name), join(modules, name));
  return join(modules, "memoryd");
}

beforeAll(async () => {
  await run(process.execPath, [join(repository, "scripts/ready.mjs")]);
});

test("the package holds what runs and what is read, and nothing else", async () => {
  const installed = await installPackage(temporaryFolder());
  expect(readdirSync(installed).sort()).toEqual([
    "CHANGELOG.md",
    "LICENSE",
    "README.md",
    "dist",
    "package.json",
    "proto",
  ]);
  const files = readdirSync(join(installed, "dist"), { recursive: true }).map(String);
  expect(files.filter((file) => /\.\w+$/.test(file) && !/\.(js|d\.ts)$/.test(file))).toEqual([]);
});

test("the packed program serves and stops", async () => {
  const folder = temporaryFolder();
  const program = join(await installPackage(folder), "dist/src/main.js");
  const home = ["--data-dir", join(folder, "home")];
  const serve = [program, "serve", "--json", "--listen", "127.0.0.1:0", ...home];
  const daemon = spawn(process.execPath, serve, { cwd: folder, stdio: ["ignore", "pipe", "ignore"] });
  const ended = once(daemon, "close");
  onTestFinished(async () => {
    daemon.kill("SIGKILL");
    await ended;
  });
  const [line] = await once(createInterface(daemon.stdout), "line");
  const { version } = JSON.parse(line);
  const memoryd = async (...args: string[]) =>
    (await run(process.execPath, [program, ...args], { cwd: folder })).stdout;
  expect(await memoryd("--version")).toBe(`${version}\n`);
  expect(JSON.parse(await memoryd("memory", "ls", "--json", ...home))).toEqual({ memories: [] });
  await memoryd("stop", ...home);
  expect(await ended).toEqual([0, null]);
});
