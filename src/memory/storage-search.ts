/**
 * The part of the memory port that finds records by words and filters (memory.md M62–M65). What `storage.ts`
 * says of all methods holds here; the contract suite is `test/contracts/memory-search.ts`.
 *
 * Which records match is the same on every engine, because `src/text` defines it; their order may differ.
 */
import type { Term } from "../text/term.js";
import type { TargetFilter } from "./refs-path.js";
import type { TermFacts } from "./search-text.js";
import type { MemoryScope } from "./storage.js";

/** A record has any of a list, and of all lists that are not empty. */
export type SearchFilters = {
  readonly types: readonly number[];
  /** As `caseFolded` makes them. */
  readonly statuses: readonly string[];
  readonly refKinds: readonly number[];
  readonly target: TargetFilter | undefined;
  readonly referencedName: string | undefined;
};

/** Where a page starts: after so many hits, or without terms after the record of that time and name. */
export type SearchPlace = { readonly skip: number } | { readonly updatedMs: number; readonly name: string };

export type SearchRequest = {
  /** A record matches when it has any of them; without terms every record does. */
  readonly terms: readonly Term[];
  readonly filters: SearchFilters;
  readonly place: SearchPlace;
  /** Hits at most. */
  readonly limit: number;
  /** Whether the terms are told of one by one. */
  readonly explain: boolean;
};

/** `revision` tells which state of the record was found. */
export type SearchFound = {
  readonly name: string;
  readonly revision: number;
  readonly updatedMs: number;
  /** Higher is better; 0 without terms. */
  readonly score: number;
};

export type SearchResult = {
  /** By score, then the newer, then by name; without terms the newest first. */
  readonly hits: readonly SearchFound[];
  /** Whether there are hits after these. */
  readonly hasMore: boolean;
  /** All that match, on whatever page. */
  readonly totalCount: number;
  /** Records of the workspace, and a term each in the order of the request; only when it was asked for. */
  readonly facts: { readonly recordCount: number; readonly terms: readonly TermFacts[] } | undefined;
};

export interface SearchStorage {
  /**
   * The readable records that match, from one consistent read that sees every write answered before it, and
   * that does not keep others waiting. Filters count before the limit.
   */
  search(scope: MemoryScope, request: SearchRequest): Promise<SearchResult>;

  /**
   * Makes those records searchable that were stored before there was an index, in parts that let others write
   * in between; answers how many there were. A search waits for it.
   */
  indexRest(): Promise<number>;
}
