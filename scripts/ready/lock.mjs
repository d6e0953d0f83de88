/**
 * One set-up at a time in a folder: a second one waits for the first and then finds the work done.
 *
 * The lock file names the processes at work: this one and, during a step, its child, because an npm whose
 * parent was killed goes on writing, and another beside it would fail. It is free when all of them are gone.
 */
import fs from "fs";
import { say } from "./say.mjs";

const pollMs = 200;

function contentOf(file) {
  try {
    return fs.readFileSync(file, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}

function isGone(pid) {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error.code === "ESRCH";
  }
}

const pidsIn = (content) => content.split(" ").map(Number);

/** False for a file that its owner is just writing. */
const isAbandoned = (content) => content !== "" && pidsIn(content).every((pid) => pid > 0 && isGone(pid));

/** Takes an abandoned lock away. Whoever judged it at the same moment may have replaced it: give that one back. */
function discard(file, abandoned) {
  const aside = `${file}.${process.pid}`;
  try {
    fs.renameSync(file, aside);
    if (contentOf(aside) !== abandoned) fs.linkSync(aside, file);
  } catch (error) {
    if (error.code !== "ENOENT" && error.code !== "EEXIST") throw error;
  }
  fs.rmSync(aside, { force: true });
}

function tryCreate(file) {
  try {
    fs.writeFileSync(file, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}

/** Waits for the lock; it is given back when this process exits. `nameChild` adds a child, or takes it off again. */
export async function acquireLock(file) {
  let hasTold = false;
  while (!tryCreate(file)) {
    const content = contentOf(file);
    if (content === undefined) continue;
    if (isAbandoned(content)) {
      discard(file, content);
      continue;
    }
    if (!hasTold) {
      const others = pidsIn(content).join(" and ");
      say(`process ${others} is getting this folder ready, waiting (if it is none of yours, delete ${file})`);
      hasTold = true;
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  process.on("exit", () => fs.rmSync(file, { force: true }));
  return {
    nameChild: (childPid) =>
      fs.writeFileSync(file, childPid === undefined ? String(process.pid) : `${process.pid} ${childPid}`),
  };
}
