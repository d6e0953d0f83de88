/** What `doctor` looks at around memoryd: Node, the configuration, room on the disk. */
import { existsSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import { sizeText } from "../quantities.js";
import { type Examination, fault, well } from "./finding.js";

/** As `engines` of package.json has it. */
export const oldestNode = [20, 19] as const;

const leastFreeBytes = 64 * 1024 * 1024;

export function nodeFinding(version: string): ReturnType<typeof well> {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor, oldestMinor] = oldestNode;
  const isFit = major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
  if (isFit) return well("node", `This is Node ${version}.`);
  return fault("node", `This is Node ${version}; install ${oldestNode.join(".")} or newer.`);
}

export const examineNode: Examination = () => [nodeFinding(process.versions.node)];

export const examineConfig: Examination = ({ config, configFaults }) => {
  const { configFile } = config.paths;
  if (configFaults.length > 0)
    return configFaults.map(({ field, description }) => fault("config", `${field} ${description}.`));
  const message = existsSync(configFile)
    ? `${configFile} and the variables are in order.`
    : `There is no ${configFile}; the variables are in order.`;
  return [well("config", message)];
};

/** The folder, or the nearest one above it that there is. */
const nearestFolder = (folder: string): string =>
  existsSync(folder) || folder === dirname(folder) ? folder : nearestFolder(dirname(folder));

export const examineDisk: Examination = ({ config }) => {
  const { dataDir } = config.paths;
  const { bavail, bsize } = statfsSync(nearestFolder(dataDir));
  const free = bavail * bsize;
  const room = `${sizeText(free)} are free on the disk of ${dataDir}`;
  if (free >= leastFreeBytes) return [well("disk", `${room}.`)];
  return [fault("disk", `Only ${room}; make room, or writes will be refused.`)];
};
