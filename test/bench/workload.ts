/**
 * What is stored and asked: records as agents write them, about 400 bytes each, spread over workspaces that
 * stay within the default cap of 10,000. The workspaces that are listed are never written to, so an answer
 * that was checked once must be as long every time.
 */
import type { RecordFields } from "../../src/memory/model.js";

export const recordsPerWorkspace = 10_000;

/** Holds a hundred records. */
export const smallWorkspace = "listed-small";
export const smallWorkspaceRecords = 100;
/** Full to the default cap; the other workspaces of a large database are called alike. */
export const largeWorkspace = "listed-0";
/** Written to by the benchmark; updates go round these names. */
export const writtenWorkspace = "written";
export const writtenNames = 1_000;

export const cursorText = `Next: wire the codec into the cache layer, then measure it. ${"See the plan. ".repeat(40)}`;

const sentence =
  "Keys are content hashes, so that two checkouts of one commit share an entry and a moved folder keeps its own; the old path keys stay readable for one release. ";

export const recordName = (index: number): string => `cache-key-plan-${String(index).padStart(5, "0")}`;

/** A record whose body begins with the mark: another mark makes another value, of the same length. */
export const fieldsOf = (index: number, mark: string): RecordFields => ({
  type: 2,
  refs: [
    { kind: 2, target: `file:src/cache/part-${String(index).padStart(5, "0")}.ts` },
    { kind: 5, target: "docs/decisions/0007-cache-keys.md" },
  ],
  status: "accepted",
  body: `${mark} ${sentence}`.trim(),
  references: [recordName((index * 7) % recordsPerWorkspace)],
});

/** Goes round so many things, each once, but never from one to its neighbour, which would lie on the same page. */
export function createTurns(count: number): () => number {
  const stride = 617;
  let turn = 0;
  return () => {
    turn = (turn + stride) % count;
    return turn;
  };
}

/** Marks of one length, none like another within a run. */
export function createMarks(): () => string {
  let count = 0;
  return () => {
    count += 1;
    return `mark-${String(count).padStart(12, "0")}`;
  };
}
