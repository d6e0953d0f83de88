/** Which workspace a folder stands for (memory.md M7, MV41), on repositories that git itself made. */
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { findWorkspace, pinFileName } from "../../src/client/workspace.js";
import { workspaceIdFromPath } from "../../src/client/workspace-id.js";
import { loadConfig } from "../../src/config/load.js";
import { linux } from "../config/environment.js";
import { temporaryFolder } from "../support/folder.js";

/** Git with nothing of the user's or the machine's own settings. */
function git(folder: string, ...args: readonly string[]): void {
  const own = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"];
  execFileSync("git", [...own, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" },
    stdio: ["ignore", "ignore", "pipe"],
  });
}

/** A repository with one commit, by its real path. */
function newRepository(name = "widget"): string {
  const folder = join(temporaryFolder(), name);
  mkdirSync(join(folder, "src"), { recursive: true });
  git(folder, "init", "-q", "-b", "main");
  git(folder, "commit", "-q", "--allow-empty", "-m", "first");
  return folder;
}

const configWith = (variables: Record<string, string> = {}, flags: Record<string, unknown> = {}) =>
  loadConfig({ flags, environment: linux(variables) });
const found = (folder: string, variables: Record<string, string> = {}) =>
  findWorkspace(configWith(variables), folder);
const workspaceIn = (folder: string): string => found(folder).workspace;

describe("the id of a path", () => {
  // The example of the specification, whose folder must not stand here as a path of this machine.
  const example = ["", "home", "ana", "src", "widget", ".git"].join("/");

  test.each([
    [example, "widget-8c7327e6e329"],
    ["/srv/widget.git", /^widget-[0-9a-f]{12}$/],
    ["/srv/Some Project (old)/.git", /^some-project-old-[0-9a-f]{12}$/],
    ["/srv/.git.git", /^git-[0-9a-f]{12}$/],
    ["/srv/日本/.git", /^workspace-[0-9a-f]{12}$/],
    ["/", /^workspace-[0-9a-f]{12}$/],
    ["/.git", /^workspace-[0-9a-f]{12}$/],
    [`/srv/${"x".repeat(63)}-yy/.git`, new RegExp(`^${"x".repeat(63)}-[0-9a-f]{12}$`)],
    [`/srv/${"x".repeat(200)}`, new RegExp(`^${"x".repeat(64)}-[0-9a-f]{12}$`)],
  ])("%s is %s", (path, id) => {
    const made = workspaceIdFromPath(path);
    if (typeof id === "string") expect(made).toBe(id);
    else expect(made).toMatch(id);
  });

  test("does not depend on how Windows writes it", () => {
    expect(workspaceIdFromPath("C:\\src\\widget\\.git")).toBe(workspaceIdFromPath("c:/src/widget/.git"));
    expect(workspaceIdFromPath("C:\\src\\Widget")).not.toBe(workspaceIdFromPath("C:\\src\\widget"));
  });
});

describe("MV41 the workspace", () => {
  test("of a checkout is that of all its folders, and of its common git directory", () => {
    const repository = newRepository();
    const id = workspaceIdFromPath(join(repository, ".git"));
    for (const folder of ["", "src", ".git", ".git/objects"]) {
      expect(workspaceIn(join(repository, folder))).toBe(id);
    }
    expect(found(join(repository, "src"))).toMatchObject({ from: "repository", root: repository });
    expect(id).toMatch(/^widget-/);
  });

  test("of a linked worktree is that of its main checkout, with a root of its own", () => {
    const repository = newRepository();
    const worktree = join(repository, "..", "feature");
    git(repository, "worktree", "add", "-q", worktree);
    expect(found(worktree)).toMatchObject({
      workspace: workspaceIn(repository),
      root: realpathSync(worktree),
    });
  });

  test("of a worktree of a bare repository is that of the repository", () => {
    const bare = join(newRepository(), "..", "shared.git");
    git(join(bare, ".."), "clone", "-q", "--bare", "widget", bare);
    const worktree = join(bare, "..", "feature");
    git(bare, "worktree", "add", "-q", worktree);
    expect(workspaceIn(worktree)).toBe(workspaceIn(bare));
    expect(found(bare)).toMatchObject({
      workspace: workspaceIdFromPath(realpathSync(bare)),
      root: undefined,
    });
    expect(workspaceIn(bare)).toMatch(/^shared-/);
  });

  test("of a submodule is its own", () => {
    const part = newRepository("part");
    const whole = newRepository("whole");
    git(whole, "submodule", "add", "-q", part, "parts/part");
    const inside = found(join(whole, "parts/part"));
    expect(inside.workspace).toBe(workspaceIdFromPath(join(whole, ".git/modules/parts/part")));
    expect(inside.root).toBe(join(whole, "parts/part"));
    expect(new Set([inside.workspace, workspaceIn(whole), workspaceIn(part)]).size).toBe(3);
  });

  test("of a second clone is its own", () => {
    const repository = newRepository();
    const clone = join(repository, "..", "again", "widget");
    git(repository, "clone", "-q", repository, clone);
    expect(workspaceIn(clone)).not.toBe(workspaceIn(repository));
    expect(workspaceIn(clone)).toMatch(/^widget-/);
  });

  test("is the same by a link to the checkout", () => {
    const repository = newRepository();
    symlinkSync(repository, `${repository}-link`);
    expect(workspaceIn(join(`${repository}-link`, "src"))).toBe(workspaceIn(repository));
  });

  test("outside of git is that of the folder alone", () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "inner"));
    mkdirSync(join(folder, ".git"));
    expect(found(folder)).toMatchObject({
      workspace: workspaceIdFromPath(folder),
      from: "folder",
      root: folder,
    });
    expect(workspaceIn(join(folder, "inner"))).not.toBe(workspaceIn(folder));
  });

  test.each([
    ["gitdir: /no/such/place\n", "a place that is gone"],
    ["nonsense", "no git directory at all"],
    ["", "nothing"],
  ])("of a folder whose .git names %j is that of what is around it", (text) => {
    const repository = newRepository();
    mkdirSync(join(repository, "inner"));
    writeFileSync(join(repository, "inner", ".git"), text);
    expect(workspaceIn(join(repository, "inner"))).toBe(workspaceIn(repository));
  });
});

describe("a pin", () => {
  test("names the workspace of all worktrees, or of one alone; an option is above both", () => {
    const repository = newRepository();
    const worktree = join(repository, "..", "feature");
    git(repository, "worktree", "add", "-q", worktree);
    writeFileSync(join(repository, ".git", pinFileName), "shared-name\r\n");
    expect([workspaceIn(repository), workspaceIn(worktree)]).toEqual(["shared-name", "shared-name"]);
    writeFileSync(join(repository, ".git/worktrees/feature", pinFileName), "apart");
    expect([workspaceIn(repository), workspaceIn(worktree)]).toEqual(["shared-name", "apart"]);
    expect(found(worktree)).toMatchObject({ from: "pin", root: realpathSync(worktree) });

    const named = { from: "option", root: undefined };
    expect(found(worktree, { MEMORYD_WORKSPACE: "by-hand" })).toMatchObject({
      ...named,
      workspace: "by-hand",
    });
    const both = configWith({ MEMORYD_WORKSPACE: "by-hand" }, { "client.workspace": "by-flag" });
    expect(findWorkspace(both, worktree)).toMatchObject({ ...named, workspace: "by-flag" });
  });

  test("that is no name is refused, and the file named", () => {
    const repository = newRepository();
    const file = join(repository, ".git", pinFileName);
    for (const text of ["", "Not A Name", "x".repeat(129), "a\nb"]) {
      writeFileSync(file, text);
      expect(() => workspaceIn(repository)).toThrow(file);
    }
  });

  test("keeps a moved checkout's workspace, once it was written", () => {
    const repository = newRepository();
    const { workspace, pin } = found(repository);
    expect(existsSync(join(repository, ".git", pinFileName))).toBe(false);
    pin();
    expect(readFileSync(join(repository, ".git", pinFileName), "utf8")).toBe(`${workspace}\n`);
    renameSync(repository, `${repository}-moved`);
    expect(found(`${repository}-moved`)).toMatchObject({ workspace, from: "pin" });
  });

  test("is written from a worktree for all of them, and never over another", () => {
    const repository = newRepository();
    const worktree = join(repository, "..", "feature");
    git(repository, "worktree", "add", "-q", worktree);
    const { workspace, pin } = found(worktree);
    pin();
    expect(found(repository)).toMatchObject({ workspace, from: "pin" });
    writeFileSync(join(repository, ".git", pinFileName), "another\n");
    pin();
    expect(workspaceIn(worktree)).toBe("another");
  });

  test("is not written where that is not wanted or not possible, nor outside of git", () => {
    const repository = newRepository();
    findWorkspace(configWith({ MEMORYD_MEMORY_PIN_WORKSPACE: "false" }), repository).pin();
    found(repository, { MEMORYD_WORKSPACE: "by-hand" }).pin();
    expect(existsSync(join(repository, ".git", pinFileName))).toBe(false);
    const { pin } = found(repository);
    renameSync(repository, `${repository}-moved`);
    expect(pin).not.toThrow();
    const folder = temporaryFolder();
    found(folder).pin();
    expect(basename(found(folder).workspace)).toBe(workspaceIdFromPath(folder));
  });
});

test("git's own environment is not asked", () => {
  const [here, there] = [newRepository("here"), newRepository("there")];
  const before = process.env.GIT_DIR;
  process.env.GIT_DIR = join(there, ".git");
  try {
    expect(workspaceIn(here)).toMatch(/^here-/);
  } finally {
    if (before === undefined) delete process.env.GIT_DIR;
    else process.env.GIT_DIR = before;
  }
});
