/**
 * The promises of `src/memory/storage-history.ts`, run on every engine. A limit of one engine would be listed
 * here with its reason and run expecting failure; none is known.
 *
 * Each group was seen red with its promise broken in the engine: revisions listed oldest first, a restore that
 * reads its revision before the transaction, a create time that moves, and a redaction that takes the live
 * revision or leaves a deleted name's newest.
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
