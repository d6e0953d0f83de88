/**
 * Loaded by Node before memoryd where a test asks how much memory it holds: told anything by a message, it
 * collects garbage and answers how many bytes are left, on the heap and beside it.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

process.on("message", () => {
  collect();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  process.send(heapUsed + external + arrayBuffers);
});
// Being listened to must not keep a daemon alive that has stopped.
process.channel.unref();
