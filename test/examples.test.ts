/**
 * Runs the README's examples as they are written, by the marker above each, against a daemon of the built
 * program, and in process (D17). Only the port is another, since the default one may be in use here.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const run = promisify(execFile);
const inRepository = (name: string): string => fileURLToPath(new URL(`../${name}`, import.meta.url));
const readme = readFileSync(inRepository("README.md"), "utf8");

const folder = mkdtempSync(join(tmpdir(), "memoryd-examples-"));
const inFolder = (name: string): string => join(folder, name);
const environment: NodeJS.ProcessEnv = { ...process.env, MEMORYD_DATA_DIR: inFolder("home") };
let address = "";
let stopDaemon = (): Promise<unknown> => Promise.resolve();

/** The code after the marker line, with the address of this daemon. */
function example(name: string): string {
  const block = readme.split(`<!-- ${name} -->\n`)[1] ?? "";
  const code = /^```\w+\n([\s\S]*?)\n```$/m.exec(block)?.[1];
  if (code === undefined) throw new Error(`README.md has no example ${name}`);
  return code.replaceAll("127.0.0.1:7411", address);
}

const shell = async (...names: string[]): Promise<string> =>
  (
    await run("bash", ["-euo", "pipefail", "-c", names.map(example).join("\n")], {
      cwd: inRepository("."),
      env: environment,
    })
  ).stdout;

/** Runs an example as a program of its own, in a folder where the package and others are installed. */
async function program(name: string, file: string): Promise<string> {
  writeFileSync(inFolder(file), example(name));
  const loader = inRepository("node_modules/tsx/dist/esm/index.mjs");
  const { stdout } = await run(process.execPath, ["--import", loader, file], {
    cwd: folder,
    env: environment,
  });
  return stdout;
}

beforeAll(async () => {
  await run(process.execPath, [inRepository("scripts/ready.mjs")]);
  writeFileSync(inFolder("package.json"), '{ "type": "module" }');
  mkdirSync(inFolder("node_modules"));
  symlinkSync(inRepository("."), inFolder("node_modules/memoryd"));
  for (const scope of ["@bufbuild", "@connectrpc", "@grpc"]) {
    symlinkSync(inRepository(`node_modules/${scope}`), inFolder(`node_modules/${scope}`));
  }
  cpSync(inRepository("gen"), inFolder("gen"), { recursive: true });

  const serve = [inRepository("dist/src/main.js"), "serve", "--json", "--listen", "127.0.0.1:0"];
  const daemon = spawn(process.execPath, serve, { env: environment, stdio: ["ignore", "pipe", "ignore"] });
  const ended = once(daemon, "close");
  stopDaemon = () => {
    daemon.kill();
    return ended;
  };
  for await (const line of createInterface(daemon.stdout)) {
    address = new URL(JSON.parse(line).url).host;
    break;
  }
  environment.MEMORYD_TOKEN = readFileSync(inFolder("home/operator-token"), "utf8").trim();
});
afterAll(async () => {
  await stopDaemon();
  rmSync(folder, { recursive: true, force: true });
});

test("the first call writes a record, lists it and writes the cursor", async () => {
  const answer = await shell("first-call");
  expect(answer).toContain('"memories":[{"name":"cache-key-plan"');
  expect(answer).toContain('{"content":"next: wire the codec"}');
});

test("buf curl lists the record on all three protocols", async () => {
  const answer = await shell("first-call", "buf-curl");
  expect(answer.match(/"name": ?"cache-key-plan"/g)?.length).toBeGreaterThanOrEqual(3);
});

test("the socket answers without a token", async () => {
  await shell("first-call");
  expect(await shell("socket-call")).toBe('{"content":"next: wire the codec"}');
});

test("a generated client works in a workspace of its own", async () => {
  expect(await program("generated-client", "generated-client.ts")).toBe("[ 'release-checklist' ]\n");
});

test("a plain gRPC client reads the cursor", async () => {
  await shell("first-call");
  expect(await program("grpc-client", "grpc-client.js")).toBe("next: wire the codec\n");
});

test("a program attaches by ensureDaemon()", async () => {
  expect(await program("ensure-daemon", "ensure-daemon.ts")).toBe("next: measure the cold start\n");
});

test("a program takes the handlers into its own process", async () => {
  expect(await program("in-process", "in-process.ts")).toBe("0\n");
});
