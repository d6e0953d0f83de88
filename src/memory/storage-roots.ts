/**
 * The part of the memory port that keeps the roots of workspaces. What `storage.ts` says of all methods holds
 * here. A daemon sees only the roots that were attached to itself (memory.md M70).
 */
import type { Root } from "./roots.js";
import type { MemoryScope } from "./storage.js";
import type { Room } from "./upsert.js";

export interface RootStorage {
  /** The roots of the workspace, the one attached first in front. */
  roots(scope: MemoryScope): Promise<readonly Root[]>;

  /** The ids of the roots of each of these workspaces, in the same order as `roots`; none has no entry. */
  rootIds(workspaces: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>;

  /**
   * Adds the root, unless one of that id is there, which keeps its place. `assertFits` is shown the roots that
   * are there and the room for a workspace, in the same transaction; it is not asked when nothing is added,
   * and what it throws reaches the caller with nothing written. Takes no position and moves no time; a
   * workspace that did not exist is born (M6).
   */
  attachRoot(
    scope: MemoryScope,
    root: Root,
    assertFits: (attached: readonly Root[], room: Room) => void,
  ): Promise<void>;

  /** Forgets the root; answers whether there was one. The workspace stays. */
  detachRoot(scope: MemoryScope, rootId: string): Promise<boolean>;
}
