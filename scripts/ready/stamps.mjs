/**
 * How the set-up knows what is already done: each result carries a stamp, a hash of all that it was made from.
 *
 * A stamp lies inside the folder that it describes and is written last, so a folder that was removed, or left
 * half made by a kill, has none.
 */
import { createHash } from "crypto";
import fs from "fs";
import path from "path";
import { fileURLToPath } from "url";

const root = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))));
const stampName = ".memoryd-ready";
const buildInputs = ["package.json", "tsconfig.json", "gen", "src"];

export const inRoot = (name) => path.join(root, name);

function read(name) {
  try {
    return fs.readFileSync(inRoot(name), "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return "";
    throw error;
  }
}

function hashOf(texts) {
  const hash = createHash("sha256");
  for (const text of texts) hash.update(`${text.length}:${text}`);
  return hash.digest("hex");
}

function filesUnder(name) {
  const stat = fs.statSync(inRoot(name), { throwIfNoEntry: false });
  if (stat === undefined) return [];
  if (!stat.isDirectory()) return [name];
  const entries = fs.readdirSync(inRoot(name)).sort();
  return entries.reduce((files, entry) => files.concat(filesUnder(`${name}/${entry}`)), []);
}

/** Compiled packages fit one operating system, processor and Node binary interface. */
const platform = [process.platform, process.arch, process.versions.modules].join("-");

export const installStamp = () => `${platform} ${hashOf([read("package-lock.json"), read(".npmrc")])}`;

export function buildStamp() {
  const files = buildInputs.reduce((all, name) => all.concat(filesUnder(name)), []);
  return hashOf(files.reduce((texts, file) => texts.concat(file, read(file)), [installStamp()]));
}

const stampIn = (folder) => read(`${folder}/${stampName}`);

export const isInstalled = () => stampIn("node_modules") === installStamp();

/** Whether a whole install for this platform is there, if of another lock file. */
export const wasInstalledHere = () => stampIn("node_modules").startsWith(`${platform} `);

export const isBuilt = () => stampIn("dist") === buildStamp();

export const writeStamp = (folder, stamp) => fs.writeFileSync(inRoot(`${folder}/${stampName}`), stamp);
