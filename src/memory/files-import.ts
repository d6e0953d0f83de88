/**
 * What becomes of a file that was read (memory.md M89): the decision that runs inside the storage's `change`,
 * pure and repeatable.
 *
 * | stored | mode | outcome |
 * | --- | --- | --- |
 * | nothing | any | CREATED with the file's times, none of them after now; REFUSED `too_many_records` without room |
 * | the same fields and unknown keys | any | UNCHANGED |
 * | something else | skip existing | SKIPPED `exists` |
 * | | keep newer, and the file's `updated` is later | REPLACED |
 * | | keep newer otherwise; a cursor, whose file says no time | SKIPPED `older` |
 * | | replace | REPLACED |
 *
 * A replacement takes its time from the clock, so that who has seen the record before is told of it (M39).
 */
import { isMemorydError } from "../kernel/errors.js";
import type { ReadCursor, ReadRecord, RefusalReason } from "./files-read.js";
import { type RecordFields, type StoredCursor, sameFields } from "./model.js";
import { assertRoom, type Caps, type Decision, type Room, type Stored } from "./upsert.js";

/** Numbers are those of `memoryd.records.v1.ImportMode`. */
export const importModes = { skipExisting: 1, keepNewer: 2, replace: 3 } as const;
export type ImportMode = (typeof importModes)[keyof typeof importModes];

/** Numbers are those of `memoryd.records.v1.ImportOutcome`. */
export const importOutcomes = { created: 1, replaced: 2, unchanged: 3, skipped: 4, refused: 5 } as const;

export type ImportVerdict = {
  readonly outcome: (typeof importOutcomes)[keyof typeof importOutcomes];
  /** Why it was skipped or refused; empty otherwise. */
  readonly reason: RefusalReason | "exists" | "older" | "";
  readonly message: string;
};

export type Judged<Fields> = { readonly verdict: ImportVerdict; readonly decision: Decision<Fields> };

export type ImportRules = { readonly mode: ImportMode; readonly caps: Caps; readonly nowMs: number };

const keeping = (verdict: ImportVerdict): Judged<never> => ({ verdict, decision: { kind: "keep" } });

const plain = (outcome: ImportVerdict["outcome"]): ImportVerdict => ({ outcome, reason: "", message: "" });

const skipped = (reason: "exists" | "older"): Judged<never> =>
  keeping({
    outcome: importOutcomes.skipped,
    reason,
    message:
      reason === "exists"
        ? "What is stored stays; another mode replaces it."
        : "What is stored is at least as new as the file, and stays.",
  });

const tooManyRecords = (message: string): Judged<never> =>
  keeping({ outcome: importOutcomes.refused, reason: "too_many_records", message });

/** Why there is no room for one more record; what stands against every file alike is thrown. */
function fullness(room: Room, caps: Caps): string | undefined {
  try {
    assertRoom(room, caps, true);
    return undefined;
  } catch (error) {
    if (!isMemorydError(error) || error.reason !== "TOO_MANY_RECORDS") throw error;
    return error.message;
  }
}

function created(file: ReadRecord, { nowMs }: ImportRules): Decision<RecordFields> {
  const updatedMs = Math.min(file.updatedMs ?? nowMs, nowMs);
  const createdMs = Math.min(file.createdMs ?? nowMs, updatedMs);
  const origin = { change: "imported", extra: file.extra, createdMs, updatedMs } as const;
  return { kind: "put", fields: file.fields, origin };
}

/** The outcome for a record, and what the storage is to do. */
export const judgeRecord =
  (file: ReadRecord, rules: ImportRules) =>
  (stored: Stored | undefined, room: Room): Judged<RecordFields> => {
    if (stored === undefined) {
      const full = fullness(room, rules.caps);
      if (full !== undefined) return tooManyRecords(full);
      return { verdict: plain(importOutcomes.created), decision: created(file, rules) };
    }
    const isSame = stored.readable && stored.extra === file.extra && sameFields(stored, file.fields);
    if (isSame) return keeping(plain(importOutcomes.unchanged));
    if (rules.mode === importModes.skipExisting) return skipped("exists");
    const fileMs = Math.min(file.updatedMs ?? Number.NEGATIVE_INFINITY, rules.nowMs);
    if (rules.mode === importModes.keepNewer && fileMs <= stored.updatedMs) return skipped("older");
    const origin = { change: "imported", extra: file.extra } as const;
    const decision = { kind: "put", fields: file.fields, origin } as const;
    return { verdict: plain(importOutcomes.replaced), decision };
  };

/** The same for the cursor. */
export const judgeCursor =
  ({ content }: ReadCursor, { mode, caps }: Pick<ImportRules, "mode" | "caps">) =>
  (stored: StoredCursor | undefined, room: Room): Judged<string> => {
    const decision = { kind: "put", fields: content, origin: { change: "imported" } } as const;
    if (stored === undefined) {
      assertRoom(room, caps, false);
      return { verdict: plain(importOutcomes.created), decision };
    }
    if (stored.content === content) return keeping(plain(importOutcomes.unchanged));
    if (mode === importModes.skipExisting) return skipped("exists");
    if (mode === importModes.keepNewer) return skipped("older");
    return { verdict: plain(importOutcomes.replaced), decision };
  };
