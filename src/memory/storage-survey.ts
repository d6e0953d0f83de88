/**
 * The part of the memory port that shows a workspace to verification. What `storage.ts` says of all methods
 * holds here.
 */
import type { MemoryScope } from "./storage.js";
import type { Stored } from "./upsert.js";

export type SurveyRequest = {
  /** The name that the rows start after; absent starts at the first. */
  readonly after: string | undefined;
  /** Only rows of these names; all when left out. */
  readonly names?: readonly string[];
  /** Rows at most. */
  readonly limit: number;
  /** Called for each row, readable or not, in byte order of names. */
  readonly onRow: (stored: Stored) => void;
  /** Called after all rows, for every name of the workspace, in byte order. */
  readonly onName: (name: string, createdMs: number) => void;
};

/** The last name that the rows cover; absent when there is no further row. */
export type Survey = { readonly nextAfter: string | undefined };

export interface SurveyStorage {
  /** One consistent read of some rows and all names; lets others run between parts. */
  survey(scope: MemoryScope, request: SurveyRequest): Promise<Survey>;
}
