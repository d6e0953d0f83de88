/** The contract of roots, baselines and surveys on SQLite. */
import { memoryRootsContract } from "../contracts/memory-roots.js";
import { engines } from "./door.js";
import { probeOf } from "./probe.js";
import { stackForTest } from "./stack.js";

for (const engine of engines) {
  memoryRootsContract(engine, async (options) => {
    const stack = await stackForTest(engine, options);
    return { storage: stack.storage, probe: probeOf(stack) };
  });
}
