/**
 * Working trees as they are and as somebody hostile would make them (memory.md M73, M76, MV55): real files,
 * and a file system that refuses or changes under the reader's hands where a test cannot make one.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  type BigIntStats,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import * as nodeFiles from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { createTreeReader } from "../../src/engines/tree.js";
import type { TreeFiles } from "../../src/engines/tree-walk.js";
import { systemClock } from "../../src/kernel/clock.js";
import type { Sight, TreeBudget, Wanted } from "../../src/memory/tree.js";
import { temporaryFolder } from "../support/folder.js";

const plenty: TreeBudget = { maxBytes: 2 ** 30, maxMs: 60_000 };
const digest: Wanted = { kind: "digest" };
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const file = (text: string): Sight => ({
  kind: "file",
  bytes: Buffer.byteLength(text),
  sha256: sha256(text),
});

function write(folder: string, path: string, text: string): string {
  const whole = join(folder, path);
  mkdirSync(dirname(whole), { recursive: true });
  writeFileSync(whole, text);
  return whole;
}

/** A root with something outside of it. */
function newTree(): { readonly root: string; readonly outside: string } {
  const folder = temporaryFolder();
  const root = join(folder, "root");
  mkdirSync(root);
  return { root, outside: join(folder, "outside") };
}

type Files = Partial<TreeFiles>;

/** Looks at one place with a reader of its own. */
const look = (root: string, path: string, wanted: Wanted = digest, files: Files = {}, budget = plenty) =>
  createTreeReader({ clock: systemClock, files: { ...nodeFiles, ...files } }).within(root, budget, (sees) =>
    sees(path.split("/"), wanted),
  );

/** The system's own files, with every path that is opened noted. */
function notingOpens(): { readonly files: Files; readonly opened: string[] } {
  const opened: string[] = [];
  const open: TreeFiles["open"] = (path, ...rest) => {
    opened.push(String(path));
    return nodeFiles.open(path, ...rest);
  };
  return { files: { open }, opened };
}

const refusal = (code: string): Error => Object.assign(new Error(code), { code });

describe("what stands in a tree", () => {
  test("is a file with its size and digest, a folder, or nothing", async () => {
    const { root } = newTree();
    write(root, "src/a.ts", "text");
    expect(await look(root, "src/a.ts")).toEqual(file("text"));
    expect(await look(root, "src")).toEqual({ kind: "folder" });
    expect(await look(root, ".")).toEqual({ kind: "folder" });
    for (const path of ["src/b.ts", "src/a.ts/b", "x".repeat(300), "x/".repeat(3_000)]) {
      expect(await look(root, path)).toEqual({ kind: "nothing" });
    }
  });

  test("is not opened when its presence or size is enough", async () => {
    const { root } = newTree();
    write(root, "a.ts", "text");
    const { files, opened } = notingOpens();
    expect(await look(root, "a.ts", { kind: "presence" }, files)).toEqual({ kind: "file", bytes: 4 });
    expect(await look(root, "a.ts", { kind: "digest", onlyIfBytes: 5 }, files)).toEqual({
      kind: "file",
      bytes: 4,
    });
    expect(opened).toEqual([]);
    expect(await look(root, "a.ts", { kind: "digest", onlyIfBytes: 4 }, files)).toEqual(file("text"));
    expect(opened).toEqual([join(root, "a.ts")]);
  });

  test("is an empty file, and one that is hashed beside the event loop", async () => {
    const { root } = newTree();
    write(root, "empty", "");
    const long = "x".repeat(1_000_000);
    write(root, "long", long);
    expect(await look(root, "empty")).toEqual(file(""));
    expect(await look(root, "long")).toEqual(file(long));
  });

  test("is known by its size alone when it is huge", async () => {
    const { root } = newTree();
    const huge = write(root, "huge", "");
    truncateSync(huge, 2 ** 40);
    const { files, opened } = notingOpens();
    expect(await look(root, "huge", digest, files)).toEqual({ kind: "file", bytes: 2 ** 40 });
    expect(await look(root, "huge", { kind: "word", word: "x" }, files)).toEqual({ kind: "too_large" });
    expect(opened).toEqual([]);
  });

  test("is read as it is now, however quickly it changed and however coarse its times are", async () => {
    const { root } = newTree();
    const lstat = (async (path: string, options: object) => {
      const status = (await nodeFiles.lstat(path, options)) as unknown as BigIntStats;
      const second = (status.ctimeMs / 1_000n) * 1_000n;
      const times = { ctimeMs: second, ctimeNs: second * 1_000_000n, mtimeNs: second * 1_000_000n };
      return Object.assign(status, times);
    }) as unknown as TreeFiles["lstat"];
    const reader = createTreeReader({ clock: systemClock, files: { ...nodeFiles, lstat } });
    for (const text of ["one", "two", "six", "ten", "red", "sky"]) {
      write(root, "a", text);
      expect(await reader.within(root, plenty, (sees) => sees(["a"], digest))).toEqual(file(text));
    }
  });
});

describe("a word of a file", () => {
  test.each([
    ["put", "store.put(x)", true],
    ["put", "put", true],
    ["put", "input output", false],
    ["put", "putter", false],
    ["put", "input put", true],
    ["put", "$put _put put_ put1", false],
    ["put", "«put»", true],
    ["put", "éput", false],
    ["put", "putß", false],
    ["größe", "die größe:", true],
    ["größ", "größe", false],
    ["aa", "aaa aa", true],
    ["a", "", false],
  ])("%s in %j is found: %s", async (word, text, hasWord) => {
    const { root } = newTree();
    write(root, "a.ts", text);
    expect(await look(root, "a.ts", { kind: "word", word })).toEqual({
      kind: "file",
      bytes: Buffer.byteLength(text),
      hasWord,
    });
  });

  test.each(["a", "é"])(
    "is told in the time that there is where %s is everywhere and nowhere",
    async (word) => {
      const { root } = newTree();
      write(root, "a.ts", word.repeat(4_000_000));
      const sight = await look(root, "a.ts", { kind: "word", word }, {}, { ...plenty, maxMs: 300 });
      expect([{ kind: "file", bytes: 4_000_000, hasWord: false }, { kind: "budget" }]).toContainEqual(sight);
    },
  );
});

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

describe("a root", () => {
  test("that is gone, is a file or became a link is not there", async () => {
    const { root, outside } = newTree();
    write(outside, "a", "text");
    const target = write(root, "file", "text");
    expect(await look(target, "a")).toBeUndefined();
    expect(await look(`${root}-none`, "a")).toBeUndefined();
    rmSync(root, { recursive: true });
    symlinkSync(outside, root);
    expect(await look(root, "a")).toBeUndefined();
  });

  test("is an existing folder by its real path", async () => {
    const { root } = newTree();
    const reader = createTreeReader({ clock: systemClock });
    symlinkSync(root, `${root}-link`);
    write(root, "file", "");
    expect(await reader.realFolder(root)).toBe(root);
    expect(await reader.realFolder(`${root}-link/../root/.`)).toBe(root);
    for (const path of ["/", `${root}/file`, `${root}/none`, "relative", "", `${root}\0`]) {
      expect(await reader.realFolder(path)).toBeUndefined();
    }
  });
});

describe("a budget", () => {
  const spread = Array.from({ length: 10 }, (_, index) => String(index));

  test("of bytes ends the reading, and everything after it", async () => {
    const { root } = newTree();
    for (const name of spread) write(root, name, name.repeat(100));
    const reader = createTreeReader({ clock: systemClock });
    const kinds = await reader.within(root, { ...plenty, maxBytes: 350 }, async (sees) => {
      const sights = await Promise.all(spread.map((name) => sees([name], digest)));
      return [...sights, await sees(["0"], { kind: "presence" })].map(({ kind }) => kind);
    });
    expect(kinds?.filter((kind) => kind === "file")).toHaveLength(3);
    expect(kinds?.slice(3)).toEqual(Array.from({ length: 8 }, () => "budget"));
  });

  test("of time ends the waiting for a system that hangs", async () => {
    const { root } = newTree();
    write(root, "a", "text");
    const open: TreeFiles["open"] = () => new Promise(() => {});
    const started = performance.now();
    expect(await look(root, "a", digest, { open }, { ...plenty, maxMs: 50 })).toEqual({ kind: "budget" });
    const realpath = (() => new Promise(() => {})) as unknown as TreeFiles["realpath"];
    expect(await look(root, "a", digest, { realpath }, { ...plenty, maxMs: 50 })).toEqual({ kind: "budget" });
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  test("is not spent by what is remembered of files that stay as they are", async () => {
    const { root } = newTree();
    const target = write(root, "a", "text");
    const changedMs = statSync(target).ctimeMs;
    const { files, opened } = notingOpens();
    const reader = createTreeReader({
      clock: { nowMs: () => changedMs + 60_000 },
      files: { ...nodeFiles, ...files },
    });
    const seen = (maxBytes: number) =>
      reader.within(root, { ...plenty, maxBytes }, (sees) => sees(["a"], digest));
    expect(await seen(4)).toEqual(file("text"));
    expect(await seen(0)).toEqual(file("text"));
    expect(opened).toHaveLength(1);
    utimesSync(target, 1, 1);
    expect(await seen(0)).toEqual({ kind: "budget" });
    expect(await seen(4)).toEqual(file("text"));
  });
});

test("at most four files are open at once, whoever asks", async () => {
  const { root } = newTree();
  const names = Array.from({ length: 20 }, (_, index) => String(index));
  for (const name of names) write(root, name, name);
  let [now, most] = [0, 0];
  const open: TreeFiles["open"] = async (path, ...rest) => {
    now += 1;
    most = Math.max(most, now);
    const handle = await nodeFiles.open(path, ...rest);
    const close = handle.close.bind(handle);
    handle.close = async () => {
      now -= 1;
      await close();
    };
    return handle;
  };
  const reader = createTreeReader({ clock: systemClock, files: { ...nodeFiles, open } });
  const all = () =>
    reader.within(root, plenty, (sees) => Promise.all(names.map((name) => sees([name], digest))));
  const [first, second] = await Promise.all([all(), all()]);
  expect(first).toEqual(names.map(file));
  expect(second).toEqual(first);
  expect([now, most]).toEqual([0, 4]);
});
