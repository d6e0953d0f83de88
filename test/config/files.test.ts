/** Folders of an instance: made for one user alone, tightened where they are ours, and else left as they are. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { assertAppendable, ensurePrivateFolder, replacePrivateFile } from "../../src/config/files.js";
import { temporaryFolder } from "../support/folder.js";

const modeOf = (path: string): number => statSync(path).mode & 0o777;

/** A folder that others may enter, with these files in it. */
function openFolder(...names: readonly string[]): string {
  const folder = join(temporaryFolder(), "open");
  mkdirSync(folder);
  for (const name of names) writeFileSync(join(folder, name), "");
  chmodSync(folder, 0o755);
  return folder;
}

describe("a folder for an instance", () => {
  test("is made with those above it, for this user alone", () => {
    const folder = join(temporaryFolder(), "a", "b");
    ensurePrivateFolder(folder);
    expect(modeOf(folder)).toBe(0o700);
    expect(modeOf(join(folder, ".."))).toBe(0o700);
  });

  test.each([
    ["empty", []],
    ["prepared with a configuration", ["config.json"]],
    ["left by a daemon", ["memoryd.log", "memoryd.log.1.gz", "start-failure.json", "backups"]],
    ["an instance with something else in it", ["memoryd.db", "memoryd.db-wal", "notes.txt"]],
  ])("that is there and %s is closed to others", (_what, names) => {
    const folder = openFolder(...names);
    ensurePrivateFolder(folder);
    expect(modeOf(folder)).toBe(0o700);
  });

  test("that others may enter and that holds other things is refused and stays as it is", () => {
    const folder = openFolder("notes.txt", "memoryd.log");
    const says = `${folder} may be entered by others; give memoryd a folder of its own, or run chmod 700 on it.`;
    expect(() => ensurePrivateFolder(folder)).toThrow(says);
    expect(() => replacePrivateFile(join(folder, "daemon.json"), "{}")).toThrow(says);
    expect(modeOf(folder)).toBe(0o755);
    expect(readdirSync(folder).sort()).toEqual(["memoryd.log", "notes.txt"]);
    chmodSync(folder, 0o700);
    ensurePrivateFolder(folder);
  });

  test("cannot be where a file is, nor below one", () => {
    const [file] = [join(openFolder("taken"), "taken")];
    const says = `${file} is a file, where memoryd needs a folder; name another place.`;
    expect(() => ensurePrivateFolder(file)).toThrow(says);
    expect(() => ensurePrivateFolder(join(file, "a", "b"))).toThrow(says);
  });
});

describe("a file to append to", () => {
  test("is made when missing, and keeps what it holds", () => {
    const file = join(temporaryFolder(), "logs", "a.log");
    assertAppendable(file);
    writeFileSync(file, "kept");
    assertAppendable(file);
    expect(readFileSync(file, "utf8")).toBe("kept");
  });

  test("may lie in a folder that others may enter", () => {
    const folder = openFolder("notes.txt");
    assertAppendable(join(folder, "a.log"));
    expect(modeOf(folder)).toBe(0o755);
  });

  test("can be neither a folder nor below a file", () => {
    const folder = openFolder("taken");
    expect(() => assertAppendable(folder)).toThrow(`${folder} cannot be written (it is a folder); name a`);
    expect(() => assertAppendable(join(folder, "taken", "a.log"))).toThrow(/taken is a file, where memoryd/);
  });
});
