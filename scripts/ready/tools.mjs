/** The programs of the machine that the set-up leans on: npm, and what compiles SQLite. */
import fs from "fs";
import path from "path";

/** The npm that runs us, or the one on PATH: command and arguments for spawn. */
export function npmCommand(args) {
  const cli = process.env.npm_execpath || "";
  if (/npm-cli\.js$/.test(cli)) return [process.execPath, [cli].concat(args)];
  if (process.platform === "win32") return ["cmd.exe", ["/d", "/c", "npm"].concat(args)];
  return ["npm", args];
}

/** Which of a compiler's parts are not on PATH, by the name of what to install. */
export function missingTools() {
  if (process.platform === "win32") return [];
  const folders = (process.env.PATH || "").split(path.delimiter);
  const isOnPath = (name) => folders.some((folder) => fs.existsSync(path.join(folder, name)));
  const needed = [
    { install: "python3", programs: ["python3", "python"] },
    { install: "make", programs: ["make"] },
    { install: "g++", programs: ["c++", "g++", "clang++"] },
  ];
  return needed.filter((tool) => !tool.programs.some(isOnPath)).map((tool) => tool.install);
}
