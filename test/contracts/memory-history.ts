/**
 * The promises of `src/memory/storage-history.ts`, run on every engine. A limit of one engine would be listed
 * here with its reason and run expecting failure; none is known.
 *
 * Each group was seen red with its promise broken in the engine: revisions listed oldest first, many names read
 * without a snapshot, a restore of 0 that takes the current state, a create time that moves, a redaction that
 * empties the live revision or spares a deleted name's newest, and workspaces in reverse.
 */
import { describe } from "vitest";
import { revisionListPromises } from "./memory-history/lists.js";
import { redactionPromises } from "./memory-history/redaction.js";
import { restorePromises } from "./memory-history/restore.js";
import { workspacePromises } from "./memory-history/workspaces.js";
import type { OpenStorage } from "./memory-storage.js";

export function memoryHistoryContract(name: string, open: OpenStorage): void {
  describe(`the history of the memory storage on ${name}`, () => {
    revisionListPromises(open);
    restorePromises(open);
    redactionPromises(open);
    workspacePromises(open);
  });
}
