/**
 * What a write makes of what is stored (memory.md M20e–M20j, M21–M23, M34–M40): the decision that runs
 * inside the storage's `change`, pure and repeatable. What it throws reaches the caller with nothing written.
 *
 * UpdateMemory; the first row that fits answers:
 * | stored             | allow_missing | then                                                          |
 * | nothing            | no            | not_found RECORD_NOT_FOUND                                    |
 * | nothing            | yes           | input invalid as a whole: refused (M20f)                      |
 * | any                | any           | precondition fails: kept if the result equals, else conflict  |
 * | unreadable, partial mask           || failed_precondition RECORD_UNREADABLE (M20h)                  |
 * | readable, partial mask             || merged record invalid: refused, naming what to add (M20i)     |
 * | nothing, workspace or daemon full  || resource_exhausted (M20j)                                     |
 * | else                               || written                                                       |
 */
import { invalidArgument, MemorydError } from "../kernel/errors.js";
import type { Mask } from "./mask.js";
import {
  assertValid,
  fieldsFromInput,
  type RecordFields,
  type RecordInput,
  type Ref,
  type RefBaseline,
  recordTypes,
  type StoredCursor,
  type StoredRecord,
  sameFields,
  type UnreadableRecord,
  wholeViolations,
} from "./model.js";
import { isSatisfied, type Precondition } from "./precondition.js";

export type Stored = StoredRecord | UnreadableRecord;

/** What `version_conflict` carries as its `current`. */
export type Conflict =
  | { readonly kind: "absent" }
  | { readonly kind: "record"; readonly record: Stored }
  | { readonly kind: "cursor"; readonly cursor: StoredCursor };

/** What a decision sees of the workspace that it writes to, before the write. */
export type Room = {
  readonly recordCount: number;
  /** How many workspaces exist besides; absent when this one exists already. */
  readonly otherWorkspaces: number | undefined;
};

export type Caps = { readonly maxRecords: number; readonly maxWorkspaces: number };

/** What an ordinary write leaves to the storage, and a write that brings something back says itself. */
export type Origin = {
  readonly change: "restored" | "imported";
  /** Unknown keys of a file (M88); those that are stored stay when left out. */
  readonly extra?: string | undefined;
  /** Counts for what is not stored; the time of the write when left out. */
  readonly createdMs?: number | undefined;
  /** Stands for the clock in M39. */
  readonly updatedMs?: number | undefined;
};

export type Decision<Fields> =
  | { readonly kind: "put"; readonly fields: Fields; readonly origin?: Origin }
  | { readonly kind: "delete" }
  /** Nothing is written and no time moves. */
  | { readonly kind: "keep" };

/** What a write notes of a ref's file; `undefined` when it saw none (M74). */
export type Baselines = (ref: Ref) => RefBaseline | undefined;

export type Update = {
  readonly input: RecordInput;
  readonly mask: Mask;
  readonly allowMissing: boolean;
  readonly precondition: Precondition;
  /** What was seen of the files of refs just before; left out where nobody looked. */
  readonly baselines?: Baselines;
};

export const recordNotFound = (): MemorydError =>
  new MemorydError("not_found", "No record has this name; check the spelling, or set allow_missing.", {
    reason: "RECORD_NOT_FOUND",
  });

export const recordUnreadable = (): MemorydError =>
  new MemorydError(
    "failed_precondition",
    "The stored record no longer reads as one; replace it whole, without a mask, or delete it.",
    { reason: "RECORD_UNREADABLE" },
  );

export function versionConflict(thing: string, precondition: Precondition, current: Conflict): MemorydError {
  const message =
    current.kind === "absent"
      ? `The ${thing} does not exist, though the precondition expects it; read again and decide anew.`
      : precondition.kind === "absent"
        ? `The ${thing} exists already, though the precondition expects none; merge into the current one, or leave it.`
        : `The ${thing} changed since that update_time; merge into the current one and write again.`;
  return new MemorydError("version_conflict", message, { reason: "STALE_UPDATE_TIME", current });
}

export const recordConflict = (precondition: Precondition, current: Stored | undefined): MemorydError =>
  versionConflict(
    "record",
    precondition,
    current === undefined ? { kind: "absent" } : { kind: "record", record: current },
  );

/** Throws `resource_exhausted` when a write that adds a workspace or a record has no room (M18). */
export function assertRoom(room: Room, caps: Caps, addsRecord: boolean): void {
  const full = (message: string, reason: string): never => {
    throw new MemorydError("resource_exhausted", message, { reason });
  };
  if (room.otherWorkspaces !== undefined && room.otherWorkspaces >= caps.maxWorkspaces) {
    full(
      `The daemon keeps at most ${caps.maxWorkspaces} workspaces (memory.max_workspaces); use an existing one.`,
      "TOO_MANY_WORKSPACES",
    );
  }
  if (addsRecord && room.recordCount >= caps.maxRecords) {
    full(
      `The workspace keeps at most ${caps.maxRecords} records (memory.max_records); delete some first.`,
      "TOO_MANY_RECORDS",
    );
  }
}

/** The record that a partial update makes, as input, so that it can be checked as a whole. */
function merged(stored: StoredRecord, input: RecordInput, fields: readonly string[]): RecordInput {
  const pick = <Key extends keyof RecordFields>(key: Key): RecordInput[Key] =>
    fields.includes(key) ? input[key] : (stored[key] as RecordInput[Key]);
  return {
    name: stored.name,
    type: pick("type"),
    refs: pick("refs"),
    status: pick("status"),
    body: pick("body"),
    references: pick("references"),
  };
}

function mergeViolations(result: RecordInput, fields: readonly string[]) {
  const isPointerWithBody = result.type === recordTypes.pointer && fieldsFromInput(result).body !== "";
  const onlyOne = fields.includes("type") !== fields.includes("body");
  if (!isPointerWithBody || !onlyOne) return wholeViolations(result);
  const missing = fields.includes("type") ? "body" : "type";
  return [
    {
      field: "memory.body",
      description: `must be empty on a pointer; add ${missing} to update_mask to change it too`,
    },
  ];
}

function resultOf(stored: Stored | undefined, update: Update): RecordFields | MemorydError {
  const { input, mask } = update;
  if (mask.kind === "full" || stored === undefined) return fieldsFromInput(input);
  if (!stored.readable) return recordUnreadable();
  const result = merged(stored, input, mask.fields);
  const violations = mergeViolations(result, mask.fields);
  return violations.length > 0 ? invalidArgument(violations) : fieldsFromInput(result);
}

/** The fields with what the write saw of the files of their refs, for a write that sets refs or body (M74). */
function withBaselines(
  fields: RecordFields,
  stored: Stored | undefined,
  { mask, baselines }: Update,
): RecordFields {
  const keepsOld =
    stored !== undefined &&
    mask.kind === "partial" &&
    !mask.fields.includes("refs") &&
    !mask.fields.includes("body");
  if (keepsOld) return fields;
  const refs = fields.refs.map(({ kind, target }): Ref => {
    const baseline = baselines?.({ kind, target });
    return { kind, target, ...(baseline === undefined ? {} : { baseline }) };
  });
  return { ...fields, refs };
}

/** The decision of UpdateMemory, for input whose own fields were checked before (M20d). */
export const decideUpdate =
  (update: Update, caps: Caps) =>
  (stored: Stored | undefined, room: Room): Decision<RecordFields> => {
    if (stored === undefined) {
      if (!update.allowMissing) throw recordNotFound();
      assertValid(wholeViolations(update.input));
    }
    const result = resultOf(stored, update);
    if (!isSatisfied(update.precondition, stored?.updatedMs)) {
      const isReplay =
        stored?.readable === true && !(result instanceof MemorydError) && sameFields(result, stored);
      if (isReplay) return { kind: "keep" };
      throw recordConflict(update.precondition, stored);
    }
    if (result instanceof MemorydError) throw result;
    if (stored === undefined) assertRoom(room, caps, true);
    return { kind: "put", fields: withBaselines(result, stored, update) };
  };

/** The decision of DeleteMemory (M34, M35). */
export const decideDelete =
  (allowMissing: boolean, precondition: Precondition) =>
  (stored: Stored | undefined): Decision<RecordFields> => {
    if (stored === undefined) {
      if (!allowMissing) throw recordNotFound();
      return { kind: "keep" };
    }
    if (!isSatisfied(precondition, stored.updatedMs)) throw recordConflict(precondition, stored);
    return { kind: "delete" };
  };

/** The decision of UpdateCursor (M37, M38). */
export const decideCursor =
  (content: string, precondition: Precondition, caps: Caps) =>
  (stored: StoredCursor | undefined, room: Room): Decision<string> => {
    if (!isSatisfied(precondition, stored?.updatedMs)) {
      if (stored?.content === content) return { kind: "keep" };
      throw versionConflict(
        "cursor",
        precondition,
        stored === undefined ? { kind: "absent" } : { kind: "cursor", cursor: stored },
      );
    }
    if (stored === undefined) assertRoom(room, caps, false);
    return { kind: "put", fields: content };
  };
