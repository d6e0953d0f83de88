/** `memoryd memory export` and `import` against a real daemon, with folders of the test's own. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openExportFolder } from "../../src/cli/memory/export-folder.js";
import { createProgress } from "../../src/cli/progress.js";
import { earlierTool } from "../memory/files.js";
import { daemonOfFile } from "../support/daemon.js";
import { temporaryFolder } from "../support/folder.js";
import { memoryd } from "./command-line.js";

const daemon = daemonOfFile();

const within =
  (workspace: string) =>
  (...args: readonly string[]) =>
    memoryd(["memory", ...args, "--data-dir", daemon().folder], {
      variables: { MEMORYD_WORKSPACE: workspace },
    });

/** A folder with these texts in it, by path. */
function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "records"));
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
  return folder;
}

const pathsIn = (folder: string): readonly string[] => {
  const records = join(folder, "records");
  return [
    ...readdirSync(folder).filter((name) => name !== "records"),
    ...(existsSync(records) ? readdirSync(records).map((name) => `records/${name}`) : []),
  ].sort();
};

const goodFile = "---\ntype: pointer\nrefs: [{kind: doc, target: README.md}]\n---\n";

describe("export and import", () => {
  test("take a folder of an earlier tool in and out, the same bytes every time", async () => {
    const memory = within("round-trip");
    const source = folderWith(earlierTool.files);
    const imported = await memory("import", source);
    expect(imported.stdout).toBe(
      "Imported 7 files: 7 created, 0 replaced, 0 unchanged, 0 skipped, 0 refused.\n",
    );
    expect(imported.code).toBe(0);
    for (const [path, text] of Object.entries(earlierTool.files)) {
      expect(readFileSync(join(source, path), "utf8")).toBe(text);
    }

    const target = join(temporaryFolder(), "new", "notes");
    const first = await memory("export", target);
    expect(first.stdout).toBe(`Exported 6 records to ${target}: 7 files written, 0 unchanged.\n`);
    for (const [path, text] of Object.entries(earlierTool.writtenBack)) {
      expect(readFileSync(join(target, path), "utf8")).toBe(text);
    }
    expect((await memory("export", target)).stdout).toContain("0 files written, 7 unchanged");
    expect((await within("copy")("import", target)).stdout).toContain("7 created");
    const digests = [
      await memory("export", target, "--json"),
      await within("copy")("export", target, "--json"),
    ];
    expect(new Set(digests.map((ran) => (ran.json() as { digest: string }).digest)).size).toBe(1);
    expect(digests[1]?.json()).toMatchObject({
      folder: target,
      recordCount: 6,
      written: 0,
      unchanged: 7,
      others: [],
    });
  });

  test("a refused file is named with its reason, the others come in, and the code is 2", async () => {
    const memory = within("refused");
    const folder = folderWith({
      "records/good.md": goodFile,
      "records/bad.md": "no front matter\n",
      "README.md": "# read me\n",
      "notes.txt": "not looked at",
      "records/large.md": "x".repeat(1_048_577),
    });
    symlinkSync("/etc/hostname", join(folder, "cursor.md"));
    const ran = await memory("import", folder, "--json");
    expect(ran.code).toBe(2);
    const { results, ...counts } = ran.json() as {
      results: { file: string; outcome: string; reason: string }[];
    };
    expect(counts).toEqual({ dryRun: false, created: 1, replaced: 0, unchanged: 0, skipped: 0, refused: 4 });
    expect(results.map(({ file, reason }) => [file.slice(folder.length + 1), reason])).toEqual([
      ["README.md", "bad_path"],
      ["cursor.md", "not_regular"],
      ["records/bad.md", "no_front_matter"],
      ["records/good.md", ""],
      ["records/large.md", "too_large"],
    ]);
    const lines = (await memory("import", folder)).stdout.split("\n");
    expect(lines[2]).toMatch(/^refused +\S+bad\.md +no_front_matter +The file does not begin/);
    expect(lines[4]).toBe("Imported 5 files: 0 created, 0 replaced, 1 unchanged, 0 skipped, 4 refused.");
  });

  test("what is there stays, unless another mode is asked for, and a dry run writes nothing", async () => {
    const memory = within("modes");
    const folder = folderWith({ "records/a.md": goodFile });
    await memory("put", "a", "--type", "pointer", "--ref", "doc:other.md");
    const kept = await memory("import", folder);
    expect(kept.stdout).toMatch(/^skipped +\S+a\.md +exists +What is stored stays;/);
    expect(kept.code).toBe(0);
    expect((await memory("import", folder, "--mode", "keep-newer")).stdout).toContain(" older ");
    const rehearsed = await memory("import", folder, "--mode", "replace", "--dry-run");
    expect(rehearsed.stdout).toMatch(/^Nothing was written; it would be 1 file: 0 created, 1 replaced/);
    expect((await memory("get", "a")).stdout).toContain("other.md");
    expect((await memory("import", folder, "--mode", "replace")).stdout).toContain("1 replaced");
    expect((await memory("get", "a")).stdout).toContain("README.md");
  });

  test("single files are taken by the names of their folders", async () => {
    const memory = within("single");
    const folder = folderWith({ "records/cursor.md": goodFile, "cursor.md": "here", "b.md": goodFile });
    const files = ["records/cursor.md", "cursor.md", "b.md"].map((path) => join(folder, path));
    const ran = await memory("import", ...files, "--json");
    const { results } = ran.json() as { results: { name: string; outcome: string }[] };
    expect(results.map(({ name, outcome }) => [name, outcome])).toEqual([
      ["cursor", "created"],
      ["", "created"],
      ["b", "created"],
    ]);
    expect((await memory("cursor")).stdout).toBe("here");
  });

  test("a thousand files go in more than one call, and are told in their order", async () => {
    const paths = Array.from({ length: 1_100 }, (_, at) => `records/n${String(at).padStart(4, "0")}.md`);
    const folder = folderWith(Object.fromEntries(paths.map((path) => [path, goodFile])));
    const ran = await within("many")("import", folder, "--json");
    const { results, created } = ran.json() as { created: number; results: { file: string }[] };
    expect(created).toBe(1_100);
    expect(results.map(({ file }) => file.slice(folder.length + 1))).toEqual(paths);
  });

  test("an export can be of some records, without the cursor, and is JSON lines on stdout", async () => {
    const memory = within("lines");
    await memory("import", folderWith({ "a.md": goodFile, "b.md": goodFile, "cursor.md": " x\r\n" }));
    const lines = (await memory("export", "-")).stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ path }) => path)).toEqual(["cursor.md", "records/a.md", "records/b.md", undefined]);
    expect(lines[0].content).toBe(" x\r\n");
    expect(lines.at(-1)).toMatchObject({ summary: { recordCount: 2, unreadable: [] } });
    const folder = temporaryFolder();
    await memory("export", folder, "--record", "b", "--skip-cursor");
    expect(pathsIn(folder)).toEqual(["records/b.md"]);
    const absent = await memory("export", join(folder, "none"), "--record", "c", "--json");
    expect([absent.code, absent.error().code]).toEqual([4, "not_found"]);
    expect(existsSync(join(folder, "none"))).toBe(false);
  });

  test("wrong input is refused before anything happens", async () => {
    const memory = within("wrong");
    const missing = await memory("import", "/nowhere/at-all");
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining("no such file or folder")]);
    expect((await memory("import")).code).toBe(2);
    expect((await memory("import", ".", "--mode", "SECRET")).code).toBe(2);
    expect((await memory("export", "")).code).toBe(2);
  });
});

describe("the folder of an export", () => {
  test("keeps what is the same untouched, and what is of no record", async () => {
    const memory = within("folder");
    await memory("import", folderWith({ "a.md": goodFile, "b.md": goodFile }));
    const folder = temporaryFolder();
    await memory("export", folder);
    const file = join(folder, "records", "a.md");
    utimesSync(file, 1, 1);
    writeFileSync(join(folder, "records", "b.md"), "changed by hand");
    writeFileSync(join(folder, "records", "gone.md"), goodFile);
    writeFileSync(join(folder, "records", "Other.md"), "x");
    const ran = await memory("export", folder);
    expect(ran.stdout).toContain("1 file written, 1 unchanged");
    expect(ran.stderr).toContain("Files of no record here, which were left alone: records/gone.md.");
    expect(statSync(file).mtimeMs).toBe(1_000);
    expect(pathsIn(folder)).toEqual(["records/Other.md", "records/a.md", "records/b.md", "records/gone.md"]);
  });

  test("is never left, whatever path comes in", () => {
    const folder = temporaryFolder();
    const target = openExportFolder(join(folder, "inside"));
    const content = Buffer.from("x");
    for (const path of [
      "../a.md",
      "records/../../a.md",
      "/tmp/a.md",
      "a/b.md",
      "records\\a.md",
      "a.txt",
      "",
    ]) {
      expect(() => target.write({ path, content })).toThrow("no export of memoryd has");
    }
    expect(pathsIn(join(folder, "inside"))).toEqual([]);
  });

  test("is not left through links", () => {
    const [folder, outside] = [temporaryFolder(), temporaryFolder()];
    symlinkSync(outside, join(folder, "records"));
    const file = { path: "records/a.md", content: Buffer.from("x") };
    expect(() => openExportFolder(folder).write(file)).toThrow("is not a folder of its own");
    expect(readdirSync(outside)).toEqual([]);

    const victim = join(outside, "victim");
    writeFileSync(victim, "mine");
    symlinkSync(victim, join(folder, "cursor.md"));
    expect(openExportFolder(folder).write({ path: "cursor.md", content: Buffer.from("mine") })).toBe(true);
    expect(lstatSync(join(folder, "cursor.md")).isFile()).toBe(true);
    expect(readFileSync(victim, "utf8")).toBe("mine");
  });
});

test("progress is told on a terminal every two seconds, and never elsewhere", () => {
  const told: string[] = [];
  let nowMs = 0;
  const errorPaint = { dim: (text: string) => text } as never;
  for (const isErrorTerminal of [true, false]) {
    nowMs = 0;
    const output = { isErrorTerminal, note: (text: string) => void told.push(text), errorPaint };
    const progress = createProgress(
      output,
      () => `at ${nowMs}`,
      () => nowMs,
    );
    for (const at of [0, 1_999, 2_000, 2_001, 3_999, 4_000, 9_000]) {
      nowMs = at;
      progress();
    }
  }
  expect(told).toEqual(["at 2000", "at 4000", "at 9000"]);
});
