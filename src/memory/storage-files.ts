/**
 * The part of the memory port that shows a whole workspace as it is at one position, for export. What
 * `storage.ts` says of all methods holds here; the contract suite is `test/contracts/memory-files.ts`.
 *
 * A workspace is read in two steps, so that nothing is held while a reader is slow: first what there is, at one
 * moment, and then the states, each by its revision, whatever was written since.
 */
import type { MemoryScope } from "./storage.js";
import type { Stored } from "./upsert.js";

/** A name, and the position of the write that made it what it is. */
export type OutlineItem = { readonly name: string; readonly revision: number };

export type Outline = {
  /** Of the workspace; empty when it does not exist. */
  readonly epoch: string;
  /** Of the newest write that the outline shows; 0 before the first. */
  readonly position: number;
  /** In byte order of names, rows that no longer read as records among them. */
  readonly items: readonly OutlineItem[];
  /** The text; absent when it was never written. */
  readonly cursor: string | undefined;
};

export interface FilesStorage {
  /**
   * What a workspace holds at one moment: all of it, or of these names those that exist. Lets others run
   * between parts of a long one.
   */
  outline(scope: MemoryScope, names: readonly string[] | undefined): Promise<Outline>;

  /**
   * The states of items of an outline, in their order: as many as take a few milliseconds to read, at least
   * one. A later write does not change what is answered; `undefined` is a state that is kept no longer, because
   * the name was written more often since than revisions are kept, or because it was redacted.
   */
  statesAt(scope: MemoryScope, items: readonly OutlineItem[]): Promise<(Stored | undefined)[]>;
}
