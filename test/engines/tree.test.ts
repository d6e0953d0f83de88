/**
 * What the reader of working trees promises (memory.md M70, M73, M76): what stands where, words, roots, budgets.
 * Hostile trees are in `tree-hostile.test.ts`.
 */
import { type BigIntStats, rmSync, statSync, symlinkSync, truncateSync, utimesSync } from "node:fs";
import * as nodeFiles from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createTreeReader } from "../../src/engines/tree.js";
import type { TreeFiles } from "../../src/engines/tree-walk.js";
import { systemClock } from "../../src/kernel/clock.js";
import { digest, file, look, newTree, notingOpens, plenty, write } from "./trees.js";

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
