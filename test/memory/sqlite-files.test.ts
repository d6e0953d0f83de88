/** The contract of files on SQLite. */
import { memoryFilesContract } from "../contracts/memory-files.js";
import { engines } from "./door.js";
import { probeOf } from "./probe.js";
import { stackForTest } from "./stack.js";

for (const engine of engines) {
  memoryFilesContract(engine, async (options) => {
    const stack = await stackForTest(engine, options);
    return { storage: stack.storage, probe: probeOf(stack) };
  });
}
