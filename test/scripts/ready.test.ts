/**
 * The set-up (D27) in miniature folders: the real script and the real compiler, but a small program in npm's
 * place that notes how it was called, since a true install takes a minute. `.ci/run` does the true one.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder } from "../support/folder.js";

const repository = fileURLToPath(new URL("../..", import.meta.url));

/** Stands in for npm: notes its arguments, makes node_modules, and waits or fails when the folder says so. */
const npmStandIn = `
  const fs = require("fs");
  fs.appendFileSync("npm-calls", process.argv.slice(2).join(" ") + "\\n");
  const waitOrEnd = () => {
    if (fs.existsSync("npm-waits")) return void setTimeout(waitOrEnd, 20);
    if (fs.existsSync("npm-fails")) { process.stderr.write(fs.readFileSync("npm-fails")); process.exit(1); }
    fs.mkdirSync("node_modules/.bin", { recursive: true });
    if (!fs.existsSync("node_modules/typescript")) fs.symlinkSync(process.env.REAL_TYPESCRIPT, "node_modules/typescript");
  };
  waitOrEnd();
`;

type Run = {
  readonly child: ChildProcess;
  readonly said: () => string;
  readonly ended: Promise<{ readonly code: number | null; readonly said: string }>;
};

type Folder = {
  readonly at: (name: string) => string;
  readonly write: (name: string, text: string) => void;
  readonly npmCalls: () => readonly string[];
  /** Starts scripts/ready.mjs as npm would. */
  readonly start: (environment?: Readonly<Record<string, string>>) => Run;
};

function createFolder(): Folder {
  const root = temporaryFolder();
  const at = (name: string): string => join(root, name);
  const write = (name: string, text: string): void => writeFileSync(at(name), text);
  cpSync(join(repository, "scripts"), at("scripts"), { recursive: true });
  mkdirSync(at("src"));
  write("package.json", '{ "type": "module" }');
  write("package-lock.json", "{}");
  write("tsconfig.json", '{ "compilerOptions": { "rootDir": ".", "types": [] }, "include": ["src"] }');
  write("src/main.ts", "export const answer: number = 1;\n");
  mkdirSync(at("npm"));
  write("npm/package.json", '{ "type": "commonjs" }');
  write("npm/npm-cli.js", npmStandIn);
  return {
    at,
    write,
    npmCalls: () =>
      existsSync(at("npm-calls")) ? readFileSync(at("npm-calls"), "utf8").trim().split("\n") : [],
    start: (environment = {}) => {
      const child = spawn(process.execPath, [at("scripts/ready.mjs")], {
        env: {
          ...process.env,
          CI: "",
          npm_execpath: at("npm/npm-cli.js"),
          REAL_TYPESCRIPT: join(repository, "node_modules/typescript"),
          ...environment,
        },
        stdio: ["ignore", "ignore", "pipe"],
      });
      onTestFinished(() => void child.kill("SIGKILL"));
      let said = "";
      child.stderr.on("data", (chunk) => {
        said += chunk;
      });
      const ended = new Promise<{ code: number | null; said: string }>((resolve) => {
        child.on("close", (code) => resolve({ code, said }));
      });
      return { child, said: () => said, ended };
    },
  };
}

const eventually = (assertion: () => void): Promise<void> => vi.waitFor(assertion, { timeout: 20_000 });

const built = (folder: Folder): string => readFileSync(folder.at("dist/src/main.js"), "utf8");

test("a fresh folder is installed and built, and the next call does nothing", async () => {
  const folder = createFolder();
  expect(await folder.start().ended).toMatchObject({ code: 0, said: expect.stringContaining("building") });
  expect(folder.npmCalls()).toEqual([expect.stringMatching(/^ci --include=dev /)]);
  expect(built(folder)).toContain("answer = 1");
  expect(await folder.start().ended).toEqual({ code: 0, said: "" });
  expect(folder.npmCalls()).toHaveLength(1);
});

test("changed sources are built without npm, also when the build before them failed", async () => {
  const folder = createFolder();
  await folder.start().ended;
  folder.write("src/main.ts", "export const answer: number = 'two';\n");
  const failed = await folder.start().ended;
  expect(failed).toMatchObject({ code: 1, said: expect.stringContaining("the build failed, see above") });
  expect(failed.said).toContain("src/main.ts");
  expect(built(folder)).toContain("answer = 1");
  folder.write("src/main.ts", "export const answer: number = 2;\n");
  expect(await folder.start().ended).toMatchObject({ code: 0 });
  expect(built(folder)).toContain("answer = 2");
  expect(folder.npmCalls()).toHaveLength(1);
});

test("a changed lock file updates the packages, and installs them anew in CI", async () => {
  const folder = createFolder();
  await folder.start().ended;
  folder.write("node_modules/.package-lock.json", "{}");
  folder.write("package-lock.json", '{ "changed": 1 }');
  expect(await folder.start().ended).toMatchObject({ code: 0 });
  expect(existsSync(folder.at("node_modules/.package-lock.json"))).toBe(false);
  folder.write("package-lock.json", '{ "changed": 2 }');
  expect(await folder.start({ CI: "true" }).ended).toMatchObject({ code: 0 });
  expect(folder.npmCalls().map((call) => call.split(" ")[0])).toEqual(["ci", "install", "ci"]);
});

test("packages that were installed for another Node are installed anew", async () => {
  const folder = createFolder();
  await folder.start().ended;
  folder.write("node_modules/.memoryd-ready", "linux-x64-93 0");
  expect(await folder.start().ended).toMatchObject({ code: 0 });
  expect(folder.npmCalls().map((call) => call.split(" ")[0])).toEqual(["ci", "ci"]);
});

test("two at once: one works, the other waits for it and finds the work done", async () => {
  const folder = createFolder();
  folder.write("npm-waits", "");
  const first = folder.start();
  await eventually(() => expect(folder.npmCalls()).toHaveLength(1));
  const second = folder.start();
  await eventually(() => expect(second.said()).toContain("is getting this folder ready, waiting"));
  rmSync(folder.at("npm-waits"));
  expect(await first.ended).toMatchObject({ code: 0 });
  expect(await second.ended).toMatchObject({ code: 0, said: expect.not.stringContaining("building") });
  expect(folder.npmCalls()).toHaveLength(1);
  expect(existsSync(folder.at(".ready.lock"))).toBe(false);
});

test("a set-up that was killed is waited for while its npm goes on, and then taken over", async () => {
  const folder = createFolder();
  folder.write("npm-waits", "");
  const first = folder.start();
  await eventually(() => expect(readFileSync(folder.at(".ready.lock"), "utf8")).toMatch(/^\d+ \d+$/));
  first.child.kill("SIGKILL");
  await once(first.child, "exit");
  const second = folder.start();
  await eventually(() => expect(second.said()).toContain("waiting"));
  expect(folder.npmCalls()).toHaveLength(1);
  rmSync(folder.at("npm-waits"));
  expect(await second.ended).toMatchObject({ code: 0 });
  // The first one's npm ended well, but nobody was left to stamp its work.
  expect(folder.npmCalls()).toHaveLength(2);
});

test("a stopped set-up stops its npm and says how to go on", async () => {
  const folder = createFolder();
  folder.write("npm-waits", "");
  const run = folder.start();
  await eventually(() => expect(folder.npmCalls()).toHaveLength(1));
  run.child.kill("SIGTERM");
  expect(await run.ended).toMatchObject({ code: 143, said: expect.stringContaining("stopped") });
  expect(existsSync(folder.at(".ready.lock"))).toBe(false);
});

test("a missing compiler is one sentence that says what to install", async () => {
  const folder = createFolder();
  folder.write("npm-fails", "npm error gyp ERR! find Python\n");
  const { code, said } = await folder.start({ PATH: folder.at("nothing-here") }).ended;
  expect(code).toBe(1);
  const lines = said.trim().split("\n");
  expect(lines.slice(1)).toEqual([
    expect.stringMatching(/^memoryd: SQLite cannot be compiled without python3, make, g\+\+: install them/),
  ]);
});

test("any other failure of npm shows what npm said", async () => {
  const folder = createFolder();
  folder.write("npm-fails", "npm error network is unreachable\n");
  const { code, said } = await folder.start().ended;
  expect(code).toBe(1);
  expect(said).toContain("network is unreachable");
  expect(existsSync(folder.at("node_modules/.memoryd-ready"))).toBe(false);
});

test("an old Node is refused with one sentence", async () => {
  const folder = createFolder();
  folder.write("old.cjs", 'Object.defineProperty(process.versions, "node", { value: "18.20.4" });');
  const { code, said } = await folder.start({ NODE_OPTIONS: `--require=${folder.at("old.cjs")}` }).ended;
  expect(code).toBe(1);
  expect(said).toBe("memoryd: this is Node 18.20.4, and 20.19 or newer is needed: get one from nodejs.org\n");
  expect(folder.npmCalls()).toEqual([]);
});
