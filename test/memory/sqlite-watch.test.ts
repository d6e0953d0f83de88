/** The contract of changes on SQLite. */
import { memoryWatchContract } from "../contracts/memory-watch.js";
import { engines } from "./door.js";
import { probeOf } from "./probe.js";
import { stackForTest } from "./stack.js";

for (const engine of engines) {
  memoryWatchContract(engine, async (options) => {
    const stack = await stackForTest(engine, options);
    return { storage: stack.storage, probe: probeOf(stack) };
  });
}
