/**
 * Runs the suite on another version of Node, all of it or a part: `node scripts/test-on-node.mjs 22 [test/db]`.
 *
 * The binary comes from the npm package that carries it for this machine (Linux and macOS). The sources are
 * copied and installed anew, because compiled packages fit one version of Node only; nothing here changes.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const say = (text) => process.stderr.write(`memoryd: ${text}\n`);

/** Copies what git knows of, and what is new and not ignored. */
function copySources(target) {
  const list = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
  });
  for (const file of list.split("\0")) {
    if (file === "" || !existsSync(join(root, file))) continue;
    mkdirSync(dirname(join(target, file)), { recursive: true });
    cpSync(join(root, file), join(target, file));
  }
}

/** Installs the version into the folder; answers the folder of its package, with bin/ and include/. */
function installNode(folder, version) {
  const name = `node-${process.platform}-${process.arch}`;
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), "{}");
  execFileSync("npm", ["install", "--silent", "--no-engine-strict", `${name}@${version}`], {
    cwd: folder,
    stdio: ["ignore", "inherit", "inherit"],
  });
  return join(folder, "node_modules", name);
}

/** Runs `npm test` there on that Node; answers the exit code. */
function runSuite(folder, node, args) {
  const result = spawnSync("npm", ["test", "--", ...args], {
    cwd: folder,
    env: {
      ...process.env,
      PATH: `${join(node, "bin")}${delimiter}${process.env.PATH}`,
      // Without it a machine's own setting may have SQLite compiled against the headers of another Node.
      npm_config_nodedir: node,
    },
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (result.error !== undefined) throw result.error;
  return result.status ?? 1;
}

function main(version, ...args) {
  if (version === undefined || !/^\d+(\.\d+){0,2}$/.test(version)) {
    say("name a version of Node, such as 22 or 24.1.0");
    return 2;
  }
  const scratch = mkdtempSync(join(tmpdir(), "memoryd-node-"));
  try {
    const node = installNode(join(scratch, "node"), version);
    const found = execFileSync(join(node, "bin/node"), ["--version"], { encoding: "utf8" }).trim();
    say(`the suite on Node ${found}`);
    const copy = join(scratch, "memoryd");
    mkdirSync(copy);
    copySources(copy);
    return runSuite(copy, node, args);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

process.exitCode = main(...process.argv.slice(2));
