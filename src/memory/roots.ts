/**
 * Roots: the folders where a workspace is checked out, in which its refs are looked up (memory.md M61, M70).
 * A root is known by a hash of its real path, so that calls carry no path and a client can compute it.
 */
import { createHash } from "node:crypto";
import { type FieldViolation, MemorydError } from "../kernel/errors.js";

export type Root = {
  readonly rootId: string;
  /** The real path on the daemon's machine; never sent to anybody. */
  readonly path: string;
};

/** Roots of one workspace at most (M18). */
export const maxRoots = 16;

const idCharacters = 12;
const idForm = /^[0-9a-f]{12}$/;

/** The id of the root with that real path. */
export const rootIdFromPath = (realPath: string): string =>
  createHash("sha256").update(realPath, "utf8").digest("hex").slice(0, idCharacters);

/** What is wrong with a root's id. */
export const rootIdViolations = (field: string, rootId: string): FieldViolation[] =>
  idForm.test(rootId) ? [] : [{ field, description: "must be given once, as 12 lower-case hex digits" }];

export const rootNotAttached = (): MemorydError =>
  new MemorydError(
    "failed_precondition",
    "That root is not attached to this workspace; attach it first, or leave memoryd-root out.",
    { reason: "ROOT_NOT_ATTACHED" },
  );

export const rootNotFound = (): MemorydError =>
  new MemorydError(
    "not_found",
    "No root with this id is attached to the workspace; list the workspaces to see its roots.",
    { reason: "ROOT_NOT_FOUND" },
  );

export const rootUnusable = (): MemorydError =>
  new MemorydError(
    "failed_precondition",
    "The path is no folder that the daemon can use as a root; name an existing one below the top.",
    { reason: "ROOT_UNUSABLE" },
  );

/** Throws `resource_exhausted` when another root would be one too many. */
export function assertRootRoom(attached: readonly Root[]): void {
  if (attached.length < maxRoots) return;
  throw new MemorydError(
    "resource_exhausted",
    `A workspace has at most ${maxRoots} roots; detach one that is no longer used.`,
    { reason: "TOO_MANY_ROOTS" },
  );
}
