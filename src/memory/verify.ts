/**
 * What is wrong with a record (memory.md M80–M86): one pure function from what is known of it to issues, in
 * the order of this table and then of its refs. Messages and hints name indexes and methods, never text.
 *
 * | code                | severity | when                                                             |
 * | ------------------- | -------- | ---------------------------------------------------------------- |
 * | unreadable_record   | error    | the row no longer reads as a record                              |
 * | stale_status        | warning  | its status is `stale`, white space and letter case aside         |
 * | self_reference      | info     | it references itself                                             |
 * | missing_reference   | error    | a name that it references is of no record                        |
 * | dangling_ref        | error    | a ref's target is gone                                           |
 * | drifted_ref         | warning  | a ref's target is no longer what it was                          |
 * | unchecked_ref       | info     | a ref could not be checked, and somebody can change that         |
 * | near_duplicate_name | warning  | an older record has nearly the same name                         |
 */
import type { RefCheck } from "./refs-resolve.js";
import { refStates } from "./refs-resolve.js";
import { caseFolded } from "./text.js";
import type { Stored } from "./upsert.js";

/** Numbers are those of `memoryd.records.v1.Severity`. */
export const severities = { info: 1, warning: 2, error: 3 } as const;
export type Severity = (typeof severities)[keyof typeof severities];

export type Issue = {
  readonly severity: Severity;
  /** A lower-case word. */
  readonly code: string;
  /** The name of the record. */
  readonly record: string;
  readonly message: string;
  /** What to do. */
  readonly hint: string;
  /** The name of the other record, when there is one. */
  readonly related?: string;
  /** How the ref fares, when the issue is about one. */
  readonly refCheck?: RefCheck;
};

/** What is known of a record besides itself. */
export type Surroundings = {
  /** Whether there is a record of that name. */
  readonly exists: (name: string) => boolean;
  /** The names of older records that are nearly this one's. */
  readonly olderNames: readonly string[];
  /** How its refs fare, when they were looked up. */
  readonly refChecks: readonly RefCheck[];
};

type Finding = Omit<Issue, "record">;

const staleStatus = "stale";

const danglingMessages: Readonly<Record<string, (index: number) => string>> = {
  symbol_not_found: (index) => `Ref ${index} names a symbol that its file does not have.`,
};
const driftedMessages: Readonly<Record<string, (index: number) => string>> = {
  type_changed: (index) =>
    `Ref ${index} names a folder where a file was meant, or a file where a folder was.`,
};
const uncheckedMessages: Readonly<Record<string, readonly [message: string, hint: string]>> = {
  outside_root: [
    "leads out of the root, where nothing is looked up",
    "Name it by a path inside of the root.",
  ],
  unreadable: [
    "names something that the daemon may not read",
    "Let the daemon's user read it, or point elsewhere.",
  ],
  not_regular: ["names neither a file nor a folder", "Point it at a file or a folder."],
};

function danglingIssue(refCheck: RefCheck): Finding {
  const { index, reason } = refCheck;
  const message = danglingMessages[reason]?.(index) ?? `Ref ${index} names something that is not there.`;
  const hint = "Point it elsewhere, or drop it, and write the record again.";
  return { severity: severities.error, code: "dangling_ref", message, hint, refCheck };
}

function driftedIssue(refCheck: RefCheck): Finding {
  const { index, reason } = refCheck;
  const message =
    driftedMessages[reason]?.(index) ??
    `Ref ${index} names a file that changed since the record was written.`;
  const hint = "Read it, then write the record again.";
  return { severity: severities.warning, code: "drifted_ref", message, hint, refCheck };
}

function uncheckedIssue(refCheck: RefCheck): Finding[] {
  const known = uncheckedMessages[refCheck.reason];
  if (known === undefined) return [];
  const [what, hint] = known;
  const message = `Ref ${refCheck.index} ${what}.`;
  return [{ severity: severities.info, code: "unchecked_ref", message, hint, refCheck }];
}

function refIssues(checks: readonly RefCheck[]): Finding[] {
  const inState = (state: number): readonly RefCheck[] => checks.filter((check) => check.state === state);
  return [
    ...inState(refStates.dangling).map(danglingIssue),
    ...inState(refStates.drifted).map(driftedIssue),
    ...inState(refStates.unchecked).flatMap(uncheckedIssue),
  ];
}

function recordIssues(stored: Stored, { exists, refChecks }: Surroundings): Finding[] {
  if (!stored.readable) {
    const message = "The stored record no longer reads as one.";
    const hint = "Replace it whole with UpdateMemory, without a mask, or delete it.";
    return [{ severity: severities.error, code: "unreadable_record", message, hint }];
  }
  const missing = [...new Set(stored.references)].filter((name) => name !== stored.name && !exists(name));
  return [
    ...(caseFolded(stored.status) === staleStatus
      ? [
          {
            severity: severities.warning,
            code: "stale_status",
            message: "Its status says that the record is stale.",
            hint: "Refresh it and its status, or delete it.",
          },
        ]
      : []),
    ...(stored.references.includes(stored.name)
      ? [
          {
            severity: severities.info,
            code: "self_reference",
            message: "The record references itself.",
            hint: "Drop its own name from its references.",
          },
        ]
      : []),
    ...missing.map((related) => ({
      severity: severities.error,
      code: "missing_reference",
      message: "It references a record that is not there.",
      hint: "Write that record, or drop the reference.",
      related,
    })),
    ...refIssues(refChecks),
  ];
}

/** Everything that is wrong with the record, of this severity at least. */
export function issuesOf(stored: Stored, surroundings: Surroundings, minSeverity: Severity): Issue[] {
  const near = surroundings.olderNames.map(
    (related): Finding => ({
      severity: severities.warning,
      code: "near_duplicate_name",
      message: "An older record has nearly the same name.",
      hint: "Merge the two into one, and delete the other.",
      related,
    }),
  );
  return [...recordIssues(stored, surroundings), ...near]
    .filter(({ severity }) => severity >= minSeverity)
    .map((finding) => ({ record: stored.name, ...finding }));
}
