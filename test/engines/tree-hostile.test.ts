/**
 * Working trees as somebody hostile would make them (memory.md M73, MV55): links that lead out or change places
 * with files under the reader's hands, pipes, and a system that refuses.
 */
import { execFileSync } from "node:child_process";
import { renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import * as nodeFiles from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { TreeFiles } from "../../src/engines/tree-walk.js";
import { digest, file, look, newTree, notingOpens, refusal, write } from "./trees.js";

describe("a link", () => {
  test("that stays inside is followed, also by its absolute path and upwards", async () => {
    const { root } = newTree();
    write(root, "src/deep/a.ts", "text");
    symlinkSync("src/deep/a.ts", join(root, "one"));
    symlinkSync(join(root, "src"), join(root, "two"));
    symlinkSync("../../one", join(root, "src/deep/three"));
    symlinkSync(root, join(root, "src/self"));
    for (const path of [
      "one",
      "two/deep/a.ts",
      "src/deep/three",
      "two/deep/three",
      "src/self/src/self/one",
    ]) {
      expect(await look(root, path)).toEqual(file("text"));
    }
  });

  test("that leads out is outside, whether or not anything is there, and nothing there is looked at", async () => {
    const { root, outside } = newTree();
    write(outside, "secret", "text");
    symlinkSync(outside, join(root, "out"));
    symlinkSync("../outside/secret", join(root, "up"));
    symlinkSync("/nowhere/at/all", join(root, "gone"));
    symlinkSync("up", join(root, "chain"));
    symlinkSync(`${root}-sibling/x`, join(root, "alike"));
    symlinkSync("../root/a", join(root, "back"));
    const { files, opened } = notingOpens();
    const seen: string[] = [];
    const lstat = ((path: string, options: object) => {
      seen.push(path);
      return nodeFiles.lstat(path, options);
    }) as TreeFiles["lstat"];
    for (const path of ["out", "out/secret", "out/none", "up", "gone", "chain", "alike", "back"]) {
      expect([path, await look(root, path, digest, { ...files, lstat })]).toEqual([
        path,
        { kind: "outside" },
      ]);
    }
    expect(opened).toEqual([]);
    expect(seen.filter((path) => path !== root && !path.startsWith(`${root}/`))).toEqual([]);
  });

  test("that goes round for ever is nothing", async () => {
    const { root } = newTree();
    symlinkSync("b", join(root, "a"));
    symlinkSync("a", join(root, "b"));
    symlinkSync("self/x", join(root, "self"));
    for (const path of ["a", "b", "self"]) expect(await look(root, path)).toEqual({ kind: "nothing" });
  });

  test("that takes a file's place before it is opened is not followed out", async () => {
    const { root, outside } = newTree();
    const secret = write(outside, "secret", "secret");
    const target = write(root, "a", "public");
    const open: TreeFiles["open"] = (path, ...rest) => {
      unlinkSync(target);
      symlinkSync(secret, target);
      return nodeFiles.open(path, ...rest);
    };
    expect(await look(root, "a", digest, { open })).toEqual({ kind: "outside" });
  });

  test("that takes a folder's place before its file is opened is found out before a byte is read", async () => {
    const { root, outside } = newTree();
    write(outside, "a", "secret");
    write(root, "folder/a", "public");
    let reads = 0;
    const open: TreeFiles["open"] = async (path, ...rest) => {
      renameSync(join(root, "folder"), join(root, "moved"));
      symlinkSync(outside, join(root, "folder"));
      const handle = await nodeFiles.open(path, ...rest);
      const read = handle.read.bind(handle);
      handle.read = ((...args: Parameters<typeof read>) => {
        reads += 1;
        return read(...args);
      }) as typeof handle.read;
      return handle;
    };
    expect(await look(root, "folder/a", digest, { open })).toEqual({ kind: "outside" });
    expect(reads).toBe(0);
  });

  test("that takes a folder's place while its file is looked for is found out before a byte is read", async () => {
    const { root, outside } = newTree();
    write(outside, "a", "secret");
    write(root, "folder/a", "public");
    let reads = 0;
    let isSwapped = false;
    const lstat = ((path: string, options: object) => {
      if (path === join(root, "folder/a") && !isSwapped) {
        isSwapped = true;
        renameSync(join(root, "folder"), join(root, "moved"));
        symlinkSync(outside, join(root, "folder"));
      }
      return nodeFiles.lstat(path, options);
    }) as TreeFiles["lstat"];
    const open: TreeFiles["open"] = async (path, ...rest) => {
      const handle = await nodeFiles.open(path, ...rest);
      const read = handle.read.bind(handle);
      handle.read = ((...args: Parameters<typeof read>) => {
        reads += 1;
        return read(...args);
      }) as typeof handle.read;
      return handle;
    };
    expect(await look(root, "folder/a", digest, { lstat, open })).toEqual({ kind: "outside" });
    expect(reads).toBe(0);
  });

  test("and a file that change places at every look end as unreadable", async () => {
    const { root } = newTree();
    const target = write(root, "a", "text");
    const open: TreeFiles["open"] = async (path, ...rest) => {
      const handle = await nodeFiles.open(path, ...rest);
      rmSync(target);
      writeFileSync(`${target}.new`, "text");
      renameSync(`${target}.new`, target);
      return handle;
    };
    expect(await look(root, "a", digest, { open })).toEqual({ kind: "unreadable" });
  });
});

describe("what is no file", () => {
  test("is told and never opened: a pipe does not hang, a device is not read", async () => {
    const { root } = newTree();
    execFileSync("mkfifo", [join(root, "pipe")]);
    const { files, opened } = notingOpens();
    expect(await look(root, "pipe", digest, files)).toEqual({ kind: "not_regular" });
    expect(opened).toEqual([]);
  });

  test("a pipe that takes a file's place is opened without waiting and not read", async () => {
    const { root } = newTree();
    const target = write(root, "a", "text");
    const open: TreeFiles["open"] = (path, ...rest) => {
      unlinkSync(target);
      execFileSync("mkfifo", [target]);
      return nodeFiles.open(path, ...rest);
    };
    expect(await look(root, "a", digest, { open })).toEqual({ kind: "not_regular" });
  });
});

describe("what the system refuses", () => {
  test.each(["EACCES", "EPERM", "EIO"])("with %s is unreadable, and not nothing", async (code) => {
    const { root } = newTree();
    write(root, "closed/a", "text");
    const lstat = ((path: string, options: object) =>
      path.includes("closed/")
        ? Promise.reject(refusal(code))
        : nodeFiles.lstat(path, options)) as TreeFiles["lstat"];
    const open: TreeFiles["open"] = () => Promise.reject(refusal(code));
    expect(await look(root, "closed/a", digest, { lstat })).toEqual({ kind: "unreadable" });
    expect(await look(root, "closed/gone", digest, { lstat })).toEqual({ kind: "unreadable" });
    expect(await look(root, "closed/a", digest, { open })).toEqual({ kind: "unreadable" });
  });
});
