/**
 * The vectors of memory.md section 16 that are data: each file of `test/vectors/memory` on every engine,
 * through requests as they come over HTTP. What needs code is in the `vectors-*.test.ts` beside this file.
 */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, test } from "vitest";
import { createTestClock, engines, useDoor } from "./door.js";
import { casesOf, runCase, type VectorFile } from "./vector.js";

const folder = new URL("../vectors/memory/", import.meta.url);
const files = readdirSync(fileURLToPath(folder))
  .filter((name) => name.endsWith(".json"))
  .map((name) => JSON.parse(readFileSync(new URL(name, folder), "utf8")) as VectorFile);

describe.each(engines)("on %s", (engine) => {
  const clock = createTestClock();
  const door = useDoor(engine, { clock });
  describe.each(files)("$about", (file) => {
    for (const item of file.vectors.flatMap((vector) => casesOf(vector, file))) {
      test(item.title, () => runCase(item, door(), clock));
    }
  });
});
