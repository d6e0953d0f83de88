/**
 * The vectors of memory.md section 16 that are data: each file of `test/vectors/memory` on every engine,
 * through requests as they come over HTTP. What needs code is in the `vectors-*.test.ts` beside this file.
 */
import { describe, test } from "vitest";
import { createTestClock, engines, useDoor } from "./door.js";
import { casesOf, runCase, vectorFiles } from "./vector.js";

describe.each(engines)("on %s", (engine) => {
  const clock = createTestClock();
  const door = useDoor(engine, { clock });
  describe.each(vectorFiles)("$about", (file) => {
    for (const item of file.vectors.flatMap((vector) => casesOf(vector, file))) {
      test(item.title, () => runCase(item, door(), clock));
    }
  });
});
