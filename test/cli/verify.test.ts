/**
 * Records that know when they are stale, as a person meets them: a real repository is cloned, records are
 * written about its files, files are renamed, edited and deleted, and the command line says so.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { pinFileName } from "../../src/client/workspace.js";
import { workspaceIdFromPath } from "../../src/client/workspace-id.js";
import { rootIdFromPath } from "../../src/memory/roots.js";
import { daemonOfFile } from "../support/daemon.js";
import { temporaryFolder } from "../support/folder.js";
import { memoryd, type RunOptions } from "./command-line.js";

const daemon = daemonOfFile();

function git(folder: string, ...args: readonly string[]): void {
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.org", ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" },
    stdio: ["ignore", "ignore", "pipe"],
  });
}

/** A clone of a repository with a few files. */
function newClone(): string {
  const folder = temporaryFolder();
  const origin = join(folder, "origin");
  mkdirSync(join(origin, "src"), { recursive: true });
  mkdirSync(join(origin, "docs"));
  writeFileSync(join(origin, "src/cache.ts"), "export class Cache { put() {} }\n");
  writeFileSync(join(origin, "src/old.ts"), "export const old = 1;\n");
  writeFileSync(join(origin, "docs/cache.md"), "# Cache\n");
  git(origin, "init", "-q", "-b", "main");
  git(origin, "add", ".");
  git(origin, "commit", "-q", "-m", "first");
  git(folder, "clone", "-q", origin, "widget");
  return join(folder, "widget");
}

/** `memoryd …` as it is run in a folder. */
const within =
  (workingDir: string) =>
  (args: readonly string[], options: RunOptions = {}) =>
    memoryd([...args, "--data-dir", daemon().folder], { workingDir, ...options });

const put = (name: string, ...refs: readonly string[]): string[] => [
  ...["memory", "put", name, "--type", "decision"],
  ...refs.flatMap((ref) => ["--ref", ref]),
];

describe("a clone whose files go on without the records", () => {
  test("is told from the records that still hold, and brought right again", async () => {
    const clone = newClone();
    const run = within(clone);
    await run(put("cache-key", "node:file:src/cache.ts", "doc:docs/cache.md"));
    await run(put("cache-put", "node:symbol:src/cache.ts#Cache.put"));
    await run(put("old-way", "node:src/old.ts:1", "command:./gone.sh"));
    await run([...put("kept", "doc:docs/cache.md"), "--reference", "cache-key"]);
    expect((await run(["memory", "verify", "kept"])).stdout).toBe(
      "Nothing is wrong with 1 record and 1 ref.\n",
    );

    git(clone, "mv", "src/old.ts", "src/older.ts");
    writeFileSync(join(clone, "src/cache.ts"), "export class Cache { get() {} }\n");
    rmSync(join(clone, "docs/cache.md"));
    const verified = await within(join(clone, "src"))(["memory", "verify"]);
    expect(verified.stdout.split("\n")).toEqual([
      "cache-key",
      "  error    Ref 1 names something that is not there: doc docs/cache.md",
      "           Point it elsewhere, or drop it, and write the record again.",
      "  warning  Ref 0 names a file that changed since the record was written: node file:src/cache.ts",
      "           Read it, then write the record again.",
      "",
      "cache-put",
      "  error    Ref 0 names a symbol that its file does not have: node symbol:src/cache.ts#Cache.put",
      "           Point it elsewhere, or drop it, and write the record again.",
      "",
      "kept",
      "  error    Ref 0 names something that is not there: doc docs/cache.md",
      "           Point it elsewhere, or drop it, and write the record again.",
      "",
      "old-way",
      "  error    Ref 0 names something that is not there: node src/old.ts:1",
      "           Point it elsewhere, or drop it, and write the record again.",
      "  error    Ref 1 names something that is not there: command ./gone.sh",
      "           Point it elsewhere, or drop it, and write the record again.",
      "",
      "5 errors, 1 warning in 4 records and 6 refs.",
      "",
    ]);
    expect(verified.code).toBe(6);

    const two = await run(["memory", "verify", "kept", "cache-put", "--json"]);
    expect(two.json()).toMatchObject({ recordsChecked: 2, refsChecked: 2 });
    const warnings = await run(["memory", "verify", "cache-key", "--json"]);
    expect(warnings.code).toBe(6);
    expect(warnings.json()).toMatchObject({
      issues: [
        { severity: "SEVERITY_ERROR", code: "dangling_ref", record: "cache-key", refIndex: 1 },
        { severity: "SEVERITY_WARNING", code: "drifted_ref", refCheck: { reason: "content_differs" } },
      ],
      recordsChecked: 1,
      refsChecked: 2,
    });

    git(clone, "checkout", "-q", "HEAD", "--", "docs/cache.md");
    await run(put("cache-key", "node:file:src/cache.ts", "doc:docs/cache.md"));
    await run(put("cache-put", "node:symbol:src/cache.ts#Cache.get"));
    await run(put("old-way", "node:src/older.ts:1"));
    const mended = await run(["memory", "verify"]);
    expect(mended.stdout).toBe("Nothing is wrong with 4 records and 5 refs.\n");
    expect(mended.code).toBe(0);
  });

  test("shares its records with its worktrees, each of which is looked at by itself", async () => {
    const clone = newClone();
    await within(clone)(put("cache-key", "doc:docs/cache.md"));
    const worktree = join(clone, "..", "feature");
    git(clone, "worktree", "add", "-q", worktree);
    writeFileSync(join(worktree, "docs/cache.md"), "# Another\n");
    const inWorktree = await within(worktree)(["memory", "verify"]);
    expect(inWorktree.stdout).toContain("changed since the record was written");
    expect(inWorktree.code).toBe(0);
    expect((await within(clone)(["memory", "verify"])).stdout).toContain("Nothing is wrong");
  });

  test("keeps its records when it is moved", async () => {
    const clone = newClone();
    expect(existsSync(join(clone, ".git", pinFileName))).toBe(false);
    await within(clone)(["memory", "ls"]);
    expect(existsSync(join(clone, ".git", pinFileName))).toBe(false);
    await within(clone)(["memory", "cursor", "set", "here"]);
    expect(readFileSync(join(clone, ".git", pinFileName), "utf8")).toMatch(/^widget-[0-9a-f]{12}\n$/);
    const moved = join(clone, "..", "moved");
    execFileSync("mv", [clone, moved]);
    expect((await within(moved)(["memory", "cursor"])).stdout).toBe("here");
  });

  test("is not pinned when that is not wanted", async () => {
    const clone = newClone();
    await within(clone)(["memory", "cursor", "set", "here", "--no-pin-workspace"]);
    expect(existsSync(join(clone, ".git", pinFileName))).toBe(false);
    expect((await within(clone)(["memory", "cursor"])).stdout).toBe("here");
  });
});

describe("verify", () => {
  test("makes no workspace where nothing is kept", async () => {
    const clone = newClone();
    const run = within(clone);
    expect((await run(["memory", "verify"])).stdout).toBe("Nothing is wrong with 0 records and 0 refs.\n");
    expect((await run(["workspace", "ls"])).stdout).not.toContain(workspaceIdFromPath(join(clone, ".git")));
  });

  test("says so when no ref could be looked up, and does without files when told", async () => {
    const clone = newClone();
    const run = (args: readonly string[]) => within(clone)([...args, "--workspace", "by-hand"]);
    await run([...put("a", "doc:gone.md"), "--status", "stale"]);
    const blind = await run(["memory", "verify"]);
    expect(blind.stderr).toContain("memoryd workspace attach");
    expect(blind.code).toBe(0);
    expect((await run(["memory", "verify", "--no-refs"])).stderr).toBe("");
    await run(["workspace", "attach"]);
    const seeing = await run(["memory", "verify"]);
    expect(seeing).toMatchObject({ code: 6, stderr: "" });
    expect((await run(["memory", "verify", "--min-severity", "error"])).stdout).not.toContain("stale");
  });

  test("shows stored text that would drive a terminal as escapes", async () => {
    const run = within(newClone());
    await run(put("a", "doc:gone\u202e.md"));
    const { stdout } = await run(["memory", "verify"], { isTerminal: true });
    expect(stdout).toContain("gone\\u{202e}.md");
    expect(stdout).not.toContain("\u202e");
  });

  test("of a record that is not there ends with 4", async () => {
    const run = within(newClone());
    await run(put("cache-key", "doc:docs/cache.md"));
    const { code, stderr } = await run(["memory", "verify", "cache-kay"]);
    expect(stderr).toContain("Perhaps you mean cache-key.");
    expect(code).toBe(4);
  });
});

describe("a root", () => {
  test("is attached and detached by its folder or id, and a second detach is an error", async () => {
    const clone = newClone();
    const run = (args: readonly string[]) => within(clone)([...args, "--workspace", "rooted"]);
    const rootId = rootIdFromPath(clone);
    expect((await run(["workspace", "attach"])).stdout).toContain(`root ${rootId}.`);
    expect((await run(["workspace", "attach", "src", "--json"])).json()).toEqual({
      rootId: rootIdFromPath(join(clone, "src")),
    });
    expect((await run(["workspace", "detach", rootId])).stdout).toBe(`Detached root ${rootId}.\n`);
    expect((await run(["workspace", "detach"])).code).toBe(4);
    expect((await run(["workspace", "detach", "--allow-missing", "--json"])).json()).toEqual({});
    rmSync(join(clone, "src"), { recursive: true });
    expect((await run(["workspace", "detach", "src"])).code).toBe(0);
  });

  test("that is no folder ends with 6", async () => {
    const { code, stderr } = await within(newClone())(["workspace", "attach", "README.md"]);
    expect(stderr).toContain("no folder");
    expect(code).toBe(6);
  });
});

test("a pin that names no workspace is told with its file", async () => {
  const clone = newClone();
  writeFileSync(join(clone, ".git", pinFileName), "Not A Name\n");
  const { code, stderr } = await within(clone)(["memory", "ls"]);
  expect(stderr).toContain(join(clone, ".git", pinFileName));
  expect(code).toBe(6);
});
