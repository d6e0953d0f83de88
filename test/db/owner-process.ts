/**
 * A process that tries to own a database file and prints how that went; an owner stays until its stdin ends.
 * Arguments: the file, and the id of the user to act as, when it is not the one who started it.
 */
import Database from "better-sqlite3";
import { acquireOwnership } from "../../src/db/sqlite/ownership.js";
import { isMemorydError } from "../../src/kernel/errors.js";

const [file = "", user] = process.argv.slice(2);
if (user !== undefined) {
  // Loaded while everything may still be read.
  new Database(":memory:").close();
  process.setuid?.(Number(user));
}
const startedMs = performance.now();
try {
  const ownership = acquireOwnership(file);
  process.stdout.write(`${JSON.stringify({ owned: true })}\n`);
  process.stdin.on("end", () => ownership.release()).resume();
} catch (error) {
  const reason = isMemorydError(error) ? error.reason : String(error);
  process.stdout.write(`${JSON.stringify({ reason, tookMs: performance.now() - startedMs })}\n`);
}
