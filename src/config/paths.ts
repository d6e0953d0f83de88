/**
 * Where an instance keeps its files (daemon.md D2, D3): pure, from the environment and the option `data_dir`.
 *
 * | | data | state | config.json |
 * | --- | --- | --- | --- |
 * | `data_dir` given | that folder | that folder | that folder |
 * | Linux and other POSIX | `$XDG_DATA_HOME`, `~/.local/share` | `$XDG_STATE_HOME`, `~/.local/state` | `$XDG_CONFIG_HOME`, `~/.config` |
 * | macOS | the same variables, `~/Library/Application Support` | …`/memoryd/state` | as data |
 * | Windows | `%LOCALAPPDATA%\memoryd\data` | `%LOCALAPPDATA%\memoryd\state` | `%APPDATA%\memoryd` |
 *
 * Nothing is created here. The socket is in `$XDG_RUNTIME_DIR/memoryd`, without it in the state folder, and
 * where that is too long for the system in a folder of the temporary directory; Windows has none.
 */
import { createHash } from "node:crypto";
import { posix, win32 } from "node:path";
import { MemorydError } from "../kernel/errors.js";
import { byteLength } from "../kernel/utf8.js";
import type { Environment } from "./env.js";

/** Longest socket path in bytes that every system binds as it is written; longer ones are cut silently. */
export const maxSocketPathBytes = 103;

export type Paths = {
  /** The folder that holds all of this instance, when the option `data_dir` named one. */
  readonly instanceDir: string | undefined;
  readonly dataDir: string;
  readonly stateDir: string;
  readonly configFile: string;
  readonly backupsDir: string;
  readonly tokenFile: string;
  readonly discoveryFile: string;
  /** Where a daemon logs that was started in the background. */
  readonly logFile: string;
  /** `undefined` where no place is short enough, or the platform has no sockets. */
  readonly socketFile: string | undefined;
  /** `undefined` when the database is in memory. */
  readonly databaseFile: string | undefined;
  /** A hint that somebody is starting the daemon right now (daemon.md D5). */
  readonly startingFile: string;
  /** Why the last start failed, for those who wait for it. */
  readonly startFailureFile: string;
};

const folderName = "memoryd";
const databaseName = "memoryd.db";
const socketName = "memoryd.sock";
const hashCharacters = 16;

export const pathStyle = (platform: NodeJS.Platform): typeof posix => (platform === "win32" ? win32 : posix);

type Homes = { readonly dataDir: string; readonly stateDir: string; readonly configDir: string };

function homesOf(environment: Environment): Homes {
  const { join, isAbsolute } = pathStyle(environment.platform);
  const { variables, platform } = environment;
  const home = (...segments: string[]): string => {
    if (isAbsolute(environment.homeDir)) return join(environment.homeDir, ...segments);
    throw new MemorydError(
      "invalid_argument",
      "This user has no home folder; set HOME, or name a folder with --data-dir or MEMORYD_DATA_DIR.",
      { reason: "INVALID_CONFIGURATION" },
    );
  };
  const named = (variable: string): string | undefined => {
    const value = variables[variable];
    return value !== undefined && isAbsolute(value) ? value : undefined;
  };
  if (platform === "win32") {
    const local = named("LOCALAPPDATA") ?? home("AppData", "Local");
    return {
      dataDir: join(local, folderName, "data"),
      stateDir: join(local, folderName, "state"),
      configDir: join(named("APPDATA") ?? home("AppData", "Roaming"), folderName),
    };
  }
  const xdg = (variable: string, otherwise: () => string): string => {
    const folder = named(variable);
    return folder === undefined ? otherwise() : join(folder, folderName);
  };
  if (platform === "darwin") {
    const ours = (...segments: string[]) => home("Library", "Application Support", folderName, ...segments);
    return {
      dataDir: xdg("XDG_DATA_HOME", () => ours()),
      stateDir: xdg("XDG_STATE_HOME", () => ours("state")),
      configDir: xdg("XDG_CONFIG_HOME", () => ours()),
    };
  }
  return {
    dataDir: xdg("XDG_DATA_HOME", () => home(".local", "share", folderName)),
    stateDir: xdg("XDG_STATE_HOME", () => home(".local", "state", folderName)),
    configDir: xdg("XDG_CONFIG_HOME", () => home(".config", folderName)),
  };
}

function socketFileOf(environment: Environment, homes: Homes, isMoved: boolean): string | undefined {
  if (environment.platform === "win32") return undefined;
  const { join, isAbsolute } = posix;
  const runtimeDir = environment.variables.XDG_RUNTIME_DIR;
  const usesRuntimeDir = !isMoved && runtimeDir !== undefined && isAbsolute(runtimeDir);
  const hash = createHash("sha256").update(homes.dataDir).digest("hex").slice(0, hashCharacters);
  const candidates = [
    usesRuntimeDir ? join(runtimeDir, folderName, socketName) : join(homes.stateDir, socketName),
    join(environment.tempDir, `${folderName}-${hash}`, socketName),
  ];
  return candidates.find((path) => byteLength(path) <= maxSocketPathBytes);
}

/** All paths of the instance; `instanceDir` is absolute. The database's own option is applied by `load.ts`. */
export function pathsFrom(environment: Environment, instanceDir?: string): Paths {
  const { join } = pathStyle(environment.platform);
  const homes =
    instanceDir === undefined
      ? homesOf(environment)
      : { dataDir: instanceDir, stateDir: instanceDir, configDir: instanceDir };
  const { dataDir, stateDir, configDir } = homes;
  return {
    instanceDir,
    dataDir,
    stateDir,
    configFile: join(configDir, "config.json"),
    backupsDir: join(dataDir, "backups"),
    tokenFile: join(stateDir, "operator-token"),
    discoveryFile: join(stateDir, "daemon.json"),
    logFile: join(stateDir, "memoryd.log"),
    socketFile: socketFileOf(environment, homes, instanceDir !== undefined),
    databaseFile: join(dataDir, databaseName),
    startingFile: join(stateDir, "starting"),
    startFailureFile: join(stateDir, "start-failure.json"),
  };
}
