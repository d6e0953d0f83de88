/** Where an instance keeps its files on each platform (daemon.md D2, D3). */
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { maxSocketPathBytes, type Paths, pathsFrom } from "../../src/config/paths.js";
import { verifies } from "../support/verifies.js";
import { darwin, linux, win32 } from "./environment.js";

const homes = ({ dataDir, stateDir, configFile, socketFile }: Paths) => [
  dataDir,
  stateDir,
  configFile,
  socketFile,
];
const hashOf = (folder: string): string => createHash("sha256").update(folder).digest("hex").slice(0, 16);

describe("paths", () => {
  verifies("D2", "follow XDG, each variable on its own", () => {
    expect(homes(pathsFrom(linux()))).toEqual([
      "/people/ada/.local/share/memoryd",
      "/people/ada/.local/state/memoryd",
      "/people/ada/.config/memoryd/config.json",
      "/people/ada/.local/state/memoryd/memoryd.sock",
    ]);
    const all = {
      XDG_DATA_HOME: "/d",
      XDG_STATE_HOME: "/s",
      XDG_CONFIG_HOME: "/c",
      XDG_RUNTIME_DIR: "/run/1000",
    };
    expect(homes(pathsFrom(linux(all)))).toEqual([
      "/d/memoryd",
      "/s/memoryd",
      "/c/memoryd/config.json",
      "/run/1000/memoryd/memoryd.sock",
    ]);
    expect(pathsFrom(linux({ XDG_STATE_HOME: "/s" })).dataDir).toBe("/people/ada/.local/share/memoryd");
  });

  test.each(["relative", "./d", "~/d"])("ignore an XDG variable that is not absolute: %s", (folder) => {
    const variables = {
      XDG_DATA_HOME: folder,
      XDG_STATE_HOME: folder,
      XDG_CONFIG_HOME: folder,
      XDG_RUNTIME_DIR: folder,
    };
    expect(pathsFrom(linux(variables))).toEqual(pathsFrom(linux()));
  });

  test("put the token, the discovery file and the log into the state folder, the rest into the data folder", () => {
    const paths = pathsFrom(linux({ XDG_DATA_HOME: "/d", XDG_STATE_HOME: "/s" }));
    expect(paths).toMatchObject({
      instanceDir: undefined,
      databaseFile: "/d/memoryd/memoryd.db",
      backupsDir: "/d/memoryd/backups",
      tokenFile: "/s/memoryd/operator-token",
      discoveryFile: "/s/memoryd/daemon.json",
      logFile: "/s/memoryd/memoryd.log",
      startingFile: "/s/memoryd/starting",
      startFailureFile: "/s/memoryd/start-failure.json",
    });
  });

  test("use the homes of macOS, where XDG variables count too when somebody sets them", () => {
    expect(homes(pathsFrom(darwin()))).toEqual([
      "/Users/ada/Library/Application Support/memoryd",
      "/Users/ada/Library/Application Support/memoryd/state",
      "/Users/ada/Library/Application Support/memoryd/config.json",
      "/Users/ada/Library/Application Support/memoryd/state/memoryd.sock",
    ]);
    expect(pathsFrom(darwin({ XDG_DATA_HOME: "/d" })).dataDir).toBe("/d/memoryd");
  });

  test("use the homes of Windows, which has no socket and knows no XDG", () => {
    expect(homes(pathsFrom(win32({ XDG_DATA_HOME: "C:\\xdg", XDG_RUNTIME_DIR: "C:\\run" })))).toEqual([
      "C:\\Users\\ada\\AppData\\Local\\memoryd\\data",
      "C:\\Users\\ada\\AppData\\Local\\memoryd\\state",
      "C:\\Users\\ada\\AppData\\Roaming\\memoryd\\config.json",
      undefined,
    ]);
    const moved = win32({ LOCALAPPDATA: "D:\\local", APPDATA: "D:\\roaming" });
    expect(homes(pathsFrom(moved))).toEqual([
      "D:\\local\\memoryd\\data",
      "D:\\local\\memoryd\\state",
      "D:\\roaming\\memoryd\\config.json",
      undefined,
    ]);
  });

  test("move with --data-dir, all of one instance, whatever XDG says", () => {
    const variables = { XDG_RUNTIME_DIR: "/run/1000", XDG_STATE_HOME: "/s" };
    const { instanceDir, ...files } = pathsFrom(linux(variables), "/one");
    expect(instanceDir).toBe("/one");
    for (const path of Object.values(files)) expect(`${path}/`).toMatch(/^\/one\//);
    expect(pathsFrom(win32(), "C:\\one").tokenFile).toBe("C:\\one\\operator-token");
  });

  test("of a user without a home are refused with a sentence, unless a folder is named", () => {
    const homeless = linux({}, { homeDir: "" });
    expect(() => pathsFrom(homeless)).toThrow(/set HOME, or name a folder with --data-dir/);
    expect(pathsFrom(homeless, "/one").dataDir).toBe("/one");
    const variables = { XDG_DATA_HOME: "/d", XDG_STATE_HOME: "/s", XDG_CONFIG_HOME: "/c" };
    expect(pathsFrom(linux(variables, { homeDir: "" })).dataDir).toBe("/d/memoryd");
  });
});

describe("the socket's path", () => {
  const nameBytes = Buffer.byteLength("/memoryd.sock");
  const longest = maxSocketPathBytes - nameBytes;

  verifies("D3", "is in the state folder up to 103 bytes, then in a temporary folder named by a hash", () => {
    const fits = `/${"x".repeat(longest - 1)}`;
    expect(pathsFrom(linux(), fits).socketFile).toBe(`${fits}/memoryd.sock`);
    const tooLong = `${fits}x`;
    expect(pathsFrom(linux(), tooLong).socketFile).toBe(`/tmp/memoryd-${hashOf(tooLong)}/memoryd.sock`);
  });

  test("is counted in bytes, as the system counts it", () => {
    const tooLong = `/${"é".repeat(Math.ceil(longest / 2))}`;
    expect(tooLong.length).toBeLessThan(longest);
    expect(pathsFrom(linux(), tooLong).socketFile).toBe(`/tmp/memoryd-${hashOf(tooLong)}/memoryd.sock`);
  });

  test("leaves a runtime folder that is too long, too", () => {
    const runtime = linux({ XDG_RUNTIME_DIR: `/${"x".repeat(longest)}` });
    expect(pathsFrom(runtime).socketFile).toBe(
      `/tmp/memoryd-${hashOf("/people/ada/.local/share/memoryd")}/memoryd.sock`,
    );
  });

  test("is none where the temporary folder is too long as well", () => {
    const nowhere = linux({}, { tempDir: `/${"t".repeat(longest)}` });
    expect(pathsFrom(nowhere, `/${"x".repeat(longest)}`).socketFile).toBeUndefined();
  });
});
