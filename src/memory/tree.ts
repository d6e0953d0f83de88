/**
 * The port by which refs are looked up in a working tree (memory.md M73, M76): what it answers, and what
 * whoever implements it promises. `app.ts` hands one in; the domain itself touches no file.
 */

/** Most that one call reads, and longest that it waits (M76). */
export type TreeBudget = { readonly maxBytes: number; readonly maxMs: number };

/** What of a place is asked. */
export type Wanted =
  /** Whether something is there, and how large a file is; nothing is opened. */
  | { readonly kind: "presence" }
  /** The digest of a file; with `onlyIfBytes` of a file of that size alone. */
  | { readonly kind: "digest"; readonly onlyIfBytes?: number }
  /** Whether a file has the word, with no letter, digit, `_` or `$` beside it. */
  | { readonly kind: "word"; readonly word: string };

/** What stands at a place. */
export type Sight =
  | {
      readonly kind: "file";
      readonly bytes: number;
      /** SHA-256 in hex; absent when it was not asked for, and for files that are too large to be read. */
      readonly sha256?: string;
      readonly hasWord?: boolean;
    }
  | { readonly kind: "folder" }
  | { readonly kind: "nothing" }
  /** A link leads out of the root, whether or not anything is there. */
  | { readonly kind: "outside" }
  /** The system does not let us look. */
  | { readonly kind: "unreadable" }
  /** Neither a file nor a folder: a pipe, a socket, a device. It was not opened. */
  | { readonly kind: "not_regular" }
  /** A file that a word was asked of, and that is too large to be read. */
  | { readonly kind: "too_large" }
  /** The call's budget is spent. */
  | { readonly kind: "budget" };

/** Looks at a place, given by its parts below the root. Never throws. */
export type Sees = (parts: readonly string[], wanted: Wanted) => Promise<Sight>;

/**
 * Reads working trees: nothing outside of a root is opened or followed into, nothing is executed, written or
 * waited for longer than the budget, and at most four files are read at once by all calls together.
 */
export interface TreeReader {
  /** The real path of an existing folder that may be a root; `undefined` for anything else and for `/`. */
  realFolder(path: string): Promise<string | undefined>;

  /** Runs `use` on the tree below a root's real path; `undefined` when the root is no longer there. */
  within<T>(rootPath: string, budget: TreeBudget, use: (sees: Sees) => Promise<T>): Promise<T | undefined>;
}
