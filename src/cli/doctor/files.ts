/**
 * What `doctor` looks at in the instance's folders: whose they are, who else may look into them, and the
 * token. Modes are repaired; what belongs to somebody else, or is no token, is for a person to decide.
 */
import { accessSync, chmodSync, constants, lstatSync, readdirSync, type Stats, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { hasFileModes } from "../../config/env.js";
import { isFolderOfOurs, privateFileMode, privateFolderMode } from "../../config/files.js";
import { readOperatorToken } from "../../config/token.js";
import { isMemorydError } from "../../kernel/errors.js";
import { type Examination, type Finding, fault, type Instance, well } from "./finding.js";

const statOf = (path: string): Stats | undefined => lstatSync(path, { throwIfNoEntry: false });

const octal = (mode: number): string => (mode & 0o777).toString(8).padStart(4, "0");

/** What is wrong with who may use `path`; nothing where there are no modes. */
function modeFault(part: string, path: string, stat: Stats, wanted: number, userId: number | undefined) {
  if (!hasFileModes) return undefined;
  if (userId !== undefined && stat.uid !== userId) {
    return fault(part, `${path} belongs to another user; give it to yourself, or use another --data-dir.`);
  }
  if ((stat.mode & 0o077) === 0) return undefined;
  const change = `chmod ${octal(wanted)} ${path}`;
  return fault(part, `Others may use ${path} (mode ${octal(stat.mode)}); run ${change}.`, () => {
    chmodSync(path, wanted);
    return `Ran ${change}.`;
  });
}

function folderFindings(part: string, folder: string, { environment }: Instance): readonly Finding[] {
  // Through links, since a folder may well lie on another disk.
  const stat = statSync(folder, { throwIfNoEntry: false });
  if (stat === undefined) return [well(part, `${folder} is made at the first start.`)];
  if (!stat.isDirectory()) return [fault(part, `${folder} is in the way of a folder; move it elsewhere.`)];
  const wrong = modeFault(part, folder, stat, privateFolderMode, environment.userId);
  if (wrong?.repair !== undefined && !isFolderOfOurs(folder)) {
    const sentence = `${folder} may be entered by others (mode ${octal(stat.mode)}) and holds more than memoryd's; give memoryd a folder of its own, or run chmod 0700 on it.`;
    return [fault(part, sentence)];
  }
  if (wrong !== undefined) return [wrong];
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return [fault(part, `${folder} cannot be written; run chmod 0700 on it.`)];
  }
  return [well(part, `${folder} is yours alone.`)];
}

export const examineFolders: Examination = (instance) => {
  const { dataDir, stateDir, socketFile } = instance.config.paths;
  const folders = new Map([
    ["data", dataDir],
    ["state", stateDir],
  ]);
  if (socketFile !== undefined) folders.set("runtime", dirname(socketFile));
  const seen = new Set<string>();
  return [...folders].flatMap(([part, folder]) => {
    if (seen.has(folder)) return [];
    seen.add(folder);
    return folderFindings(part, folder, instance);
  });
};

/** The files that hold what was stored, or how to get at it. */
function privateFiles({ config }: Instance): readonly string[] {
  const { databaseFile, discoveryFile, logFile, startFailureFile, backupsDir } = config.paths;
  const database =
    databaseFile === undefined ? [] : ["", "-wal", "-shm", ".lock"].map((end) => databaseFile + end);
  const backups = statOf(backupsDir)?.isDirectory() === true ? readdirSync(backupsDir) : [];
  return [
    ...database,
    ...backups.map((name) => join(backupsDir, name)),
    discoveryFile,
    logFile,
    startFailureFile,
  ];
}

export const examineFiles: Examination = (instance) => {
  const files = privateFiles(instance).flatMap((path) => {
    const stat = statOf(path);
    return stat === undefined || !stat.isFile() ? [] : [{ path, stat }];
  });
  const { userId } = instance.environment;
  const wrong = files.flatMap(
    ({ path, stat }) => modeFault("files", path, stat, privateFileMode, userId) ?? [],
  );
  if (wrong.length > 0) return wrong;
  return [
    well("files", files.length === 0 ? "There are none yet." : "Database, log and the rest are yours alone."),
  ];
};

export const examineToken: Examination = (instance) => {
  const { tokenFile } = instance.config.paths;
  const stat = statOf(tokenFile);
  if (stat === undefined) return [well("token", "The operator token is made at the first start.")];
  const exposed = modeFault("token", tokenFile, stat, privateFileMode, instance.environment.userId);
  if (exposed?.repair !== undefined) {
    const { repair } = exposed;
    return [
      fault(
        "token",
        `Others may read the operator token (mode ${octal(stat.mode)}); run chmod 0600 ${tokenFile}, or delete it when they may have.`,
        () => `${repair()} Delete the file and start the daemon again if others may have read it.`,
      ),
    ];
  }
  if (exposed !== undefined) return [exposed];
  try {
    readOperatorToken(tokenFile);
    return [well("token", `${tokenFile} holds the operator token.`)];
  } catch (error) {
    if (isMemorydError(error)) return [fault("token", error.message)];
    throw error;
  }
};
