/**
 * The promises of `src/memory/storage-files.ts` and of puts with an origin, run on every engine. A limit of one
 * engine would be listed here with its reason and run expecting failure; none is known.
 *
 * Each group was seen red with its promise broken in the engine: items in another order, states read as they
 * are now, a state that is gone answered as the newest one, and an origin whose times, kind or keys are ignored.
 */
import { describe } from "vitest";
import { originPromises } from "./memory-files/origin.js";
import { outlinePromises } from "./memory-files/outline.js";
import type { OpenStorage } from "./memory-storage.js";

export function memoryFilesContract(name: string, open: OpenStorage): void {
  describe(`the files of the memory storage on ${name}`, () => {
    outlinePromises(open);
    originPromises(open);
  });
}
