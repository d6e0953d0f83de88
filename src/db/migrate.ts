/**
 * Which migrations a database still needs, or why it is refused (design section 2, Migrations). Pure and
 * without an engine: the engines read what was applied, run what is pending and keep the table.
 *
 * Each domain has an append-only list, so what was applied of a domain must be the beginning of its list:
 *
 * | found in the database                                | outcome              |
 * | ---------------------------------------------------- | -------------------- |
 * | the beginning of every domain's list                 | the rest is pending  |
 * | a step that this binary does not know                | DATABASE_NEWER       |
 * | a step whose text has another checksum               | MIGRATION_EDITED     |
 * | a domain's steps in another order                    | MIGRATION_REORDERED  |
 * | a later step without an earlier one, or a lost row   | MIGRATION_MISSING    |
 */
import { createHash } from "node:crypto";
import { MemorydError } from "../kernel/errors.js";

/** One step of a domain's list, once an engine. Its text never changes after a release. */
export type Migration = {
  /** `domain/NNNN-what`, such as `memory/0001-records`; the part before the slash names the list. */
  readonly id: string;
  readonly sqlite: string;
};

/** A row of the table `memoryd_migrations`. */
export type AppliedMigration = {
  /** 1, 2, 3 … in the order of application, over all domains. */
  readonly position: number;
  readonly id: string;
  readonly checksum: string;
  /** The memoryd version that applied it. */
  readonly version: string;
};

/** A step as one engine runs it. */
export type MigrationStep = { readonly id: string; readonly sql: string };

export type PendingMigration = MigrationStep & { readonly position: number; readonly checksum: string };

/** The checksum kept with an applied step: SHA-256 of its text, in hex. */
export const migrationChecksum = (sql: string): string => createHash("sha256").update(sql).digest("hex");

const domainOf = (id: string): string => id.slice(0, id.indexOf("/"));

const refused = (reason: string, message: string): MemorydError =>
  new MemorydError("failed_precondition", message, { reason });

/** The steps to run, in order; throws `failed_precondition` as the table above says. Empty when up to date. */
export function pendingMigrations(
  applied: readonly AppliedMigration[],
  wanted: readonly MigrationStep[],
): readonly PendingMigration[] {
  const rows = [...applied].sort((a, b) => a.position - b.position);
  assertKnown(rows, wanted);
  assertUnedited(rows, wanted);
  assertWhole(rows);
  for (const domain of new Set(wanted.map((step) => domainOf(step.id)))) {
    const ofDomain = ({ id }: { readonly id: string }): boolean => domainOf(id) === domain;
    assertBeginning(rows.filter(ofDomain), wanted.filter(ofDomain));
  }
  const done = new Set(rows.map((row) => row.id));
  return wanted
    .filter((step) => !done.has(step.id))
    .map((step, index) => ({
      ...step,
      position: rows.length + index + 1,
      checksum: migrationChecksum(step.sql),
    }));
}

function assertKnown(rows: readonly AppliedMigration[], wanted: readonly MigrationStep[]): void {
  const known = new Set(wanted.map((step) => step.id));
  const unknown = rows.findLast((row) => !known.has(row.id));
  if (unknown === undefined) return;
  throw refused(
    "DATABASE_NEWER",
    `The database was last changed by memoryd ${unknown.version}, which is newer than this one: ` +
      "run that version or a later one, or restore a backup made before it.",
  );
}

function assertUnedited(rows: readonly AppliedMigration[], wanted: readonly MigrationStep[]): void {
  const checksums = new Map(wanted.map((step) => [step.id, migrationChecksum(step.sql)]));
  const edited = rows.find((row) => checksums.get(row.id) !== row.checksum);
  if (edited === undefined) return;
  throw refused(
    "MIGRATION_EDITED",
    `The database was made with another text of the migration ${edited.id}: ` +
      `run an unchanged memoryd ${edited.version} or later, or restore a backup.`,
  );
}

function assertWhole(rows: readonly AppliedMigration[]): void {
  const lost = rows.findIndex((row, index) => row.position !== index + 1);
  if (lost === -1) return;
  throw refused(
    "MIGRATION_MISSING",
    `The database has lost its note of migration ${lost + 1}, so its shape is unknown: restore a backup.`,
  );
}

function assertBeginning(rows: readonly AppliedMigration[], wanted: readonly MigrationStep[]): void {
  const at = rows.findIndex((row, index) => row.id !== wanted[index]?.id);
  const expected = wanted[at];
  if (expected === undefined) return;
  if (rows.some((row) => row.id === expected.id))
    throw refused(
      "MIGRATION_REORDERED",
      `The database has the migration ${expected.id} in another place than this memoryd: ` +
        "run the version that made the database or a later one, or restore a backup.",
    );
  throw refused(
    "MIGRATION_MISSING",
    `The database lacks the migration ${expected.id} but has later ones: ` +
      "run the version that made the database, or restore a backup.",
  );
}
