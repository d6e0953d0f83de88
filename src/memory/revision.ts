/**
 * Kept states of records and of the cursor, and what a restore makes of one (memory.md M50, M55): pure and
 * repeatable, run inside the storage's `restore`. What it throws reaches the caller with nothing written.
 *
 * | the name                 | the revision                    | then                                             |
 * | was never written        |                                 | not_found RECORD_NOT_FOUND                       |
 * | is known                 | is not kept                     | not_found REVISION_NOT_FOUND                     |
 * | is known                 | any                             | precondition fails: kept if the result equals    |
 * |                          |                                 | what is stored, else version_conflict (M40)      |
 * | is known                 | deletion, redacted, or no legal | failed_precondition REVISION_UNUSABLE            |
 * |                          | record by today's rules         |                                                  |
 * | is deleted               | whole                           | workspace full: resource_exhausted; else written |
 * |                          |                                 | with the revision's create time                  |
 * | is stored                | whole                           | written; the create time stays                   |
 */
import { MemorydError } from "../kernel/errors.js";
import {
  fieldsFromInput,
  type RecordFields,
  type StoredRecord,
  sameFields,
  type WriteFacts,
  type Writer,
  wholeViolations,
} from "./model.js";
import { isSatisfied, type Precondition } from "./precondition.js";
import { assertRoom, type Caps, type Decision, type Room, recordConflict, type Stored } from "./upsert.js";

/** One kept state of a name. */
export type RecordRevision = {
  /** The position of the write. */
  readonly revision: number;
  /** A number of `changeKinds`. */
  readonly kind: number;
  readonly atMs: number;
  readonly writer: Writer;
  /** The record after the write; absent after a deletion, when redacted, and when it no longer reads as one. */
  readonly record: StoredRecord | undefined;
  readonly isRedacted: boolean;
};

/** One kept value of the cursor; the text is empty when it was redacted. */
export type CursorRevision = WriteFacts & { readonly content: string; readonly isRedacted: boolean };

/** What a restore finds. */
export type Restorable = {
  /** Whether any revision of the name is kept. */
  readonly isKnown: boolean;
  /** The revision that was asked for. */
  readonly revision: RecordRevision | undefined;
};

/** For calls that have no `allow_missing`. */
export const nameNotFound = (): MemorydError =>
  new MemorydError("not_found", "No record has this name; check the spelling.", {
    reason: "RECORD_NOT_FOUND",
  });

const revisionNotFound = (): MemorydError =>
  new MemorydError(
    "not_found",
    "No such revision of this record is kept; list its revisions and choose one of them.",
    { reason: "REVISION_NOT_FOUND" },
  );

const revisionUnusable = (): MemorydError =>
  new MemorydError(
    "failed_precondition",
    "That revision holds no record that could be written today; restore another one.",
    { reason: "REVISION_UNUSABLE" },
  );

/** The fields that the revision would bring back; absent when it cannot. */
function fieldsOf({ record }: RecordRevision): RecordFields | undefined {
  if (record === undefined || wholeViolations(record).length > 0) return undefined;
  return fieldsFromInput(record);
}

/** The decision of RestoreRecord. */
export const decideRestore =
  (precondition: Precondition, caps: Caps) =>
  (found: Restorable, stored: Stored | undefined, room: Room): Decision<RecordFields> => {
    if (stored === undefined && !found.isKnown) throw nameNotFound();
    if (found.revision === undefined) throw revisionNotFound();
    const fields = fieldsOf(found.revision);
    if (!isSatisfied(precondition, stored?.updatedMs)) {
      if (stored?.readable === true && fields !== undefined && sameFields(fields, stored)) {
        return { kind: "keep" };
      }
      throw recordConflict(precondition, stored);
    }
    if (fields === undefined) throw revisionUnusable();
    if (stored === undefined) assertRoom(room, caps, true);
    const { createdMs, extra } = found.revision.record ?? {};
    return { kind: "put", fields, origin: { change: "restored", createdMs, extra } };
  };
