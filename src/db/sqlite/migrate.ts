/**
 * Brings a database file to what this binary needs (design section 2, Migrations): refuses a file that is
 * not memoryd's before a byte of it changes, makes a checked backup before the first pending step on a file
 * that is in use, and runs each step in a transaction of its own, so that a crash leaves whole steps only.
 * Which steps are pending is `db/migrate.ts`.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../kernel/clock.js";
import { MemorydError } from "../../kernel/errors.js";
import type { Log } from "../../kernel/log.js";
import {
  type AppliedMigration,
  type Migration,
  type PendingMigration,
  pendingMigrations,
} from "../migrate.js";
import { writeBackup } from "./backup.js";
import type { Connection } from "./open.js";

/** "memd", in the file's header: how a database of memoryd is told from another program's. */
export const applicationId = 0x6d656d64;

const createTable = `
create table memoryd_migrations (
  position integer primary key,
  id text not null unique,
  checksum text not null,
  applied_time integer not null,
  version text not null
) strict`;

/** Throws `failed_precondition` for a file with something in it that memoryd did not make. Writes nothing. */
export function assertOurs(connection: Connection): void {
  const found = connection.pragma("application_id", { simple: true });
  if (found === applicationId) return;
  const isEmpty = connection.prepare("select count(*) from sqlite_schema").pluck().get() === 0;
  if (found === 0 && isEmpty) return;
  throw new MemorydError(
    "failed_precondition",
    `${connection.name} is the database of another program: name another file as the database of memoryd.`,
    { reason: "FOREIGN_DATABASE" },
  );
}

export type MigrateOptions = {
  readonly migrations: readonly Migration[];
  /** Where the backup goes; created with mode 0700 when it is needed. */
  readonly backupsDir: string;
  /** Of this memoryd; kept with each step, so that an older one can name what made the database. */
  readonly version: string;
  readonly log: Log;
  readonly clock: Clock;
};

export async function migrateSqlite(connection: Connection, options: MigrateOptions): Promise<void> {
  const applied = readApplied(connection);
  const wanted = options.migrations.map(({ id, sqlite }) => ({ id, sql: sqlite }));
  const pending = pendingMigrations(applied ?? [], wanted);
  if (applied === undefined) createMigrationsTable(connection);
  const [first] = pending;
  if (first === undefined) return;
  if (applied !== undefined && applied.length > 0) await backUp(connection, first, options);
  // Off, because dropping a table in order to rebuild it would delete its children; checked in each step.
  connection.pragma("foreign_keys = OFF");
  for (const step of pending) applyStep(connection, step, options);
  connection.pragma("foreign_keys = ON");
}

/** The applied steps; `undefined` in a database that has none of our tables yet. */
export function readApplied(connection: Connection): readonly AppliedMigration[] | undefined {
  const exists = connection
    .prepare("select 1 from sqlite_schema where type = 'table' and name = 'memoryd_migrations'")
    .get();
  if (exists === undefined) return undefined;
  return connection
    .prepare<[], AppliedMigration>(
      "select position, id, checksum, version from memoryd_migrations order by position",
    )
    .all();
}

function createMigrationsTable(connection: Connection): void {
  connection
    .transaction(() => {
      connection.pragma(`application_id = ${applicationId}`);
      connection.exec(createTable);
    })
    .immediate();
}

function applyStep(
  connection: Connection,
  step: PendingMigration,
  { version, log, clock }: MigrateOptions,
): void {
  connection
    .transaction(() => {
      connection.exec(step.sql);
      const broken = connection.pragma("foreign_key_check") as unknown[];
      if (broken.length > 0)
        throw new MemorydError(
          "failed_precondition",
          `The migration ${step.id} was undone, because the database holds rows that point at nothing: ` +
            "restore a backup, or run the memoryd version that was in use before.",
          { reason: "MIGRATION_FAILED" },
        );
      connection
        .prepare(
          "insert into memoryd_migrations (position, id, checksum, applied_time, version) values (?, ?, ?, ?, ?)",
        )
        .run(step.position, step.id, step.checksum, clock.nowMs(), version);
    })
    .immediate();
  log.info({ migration: step.id }, "the database was migrated");
}

async function backUp(
  connection: Connection,
  first: PendingMigration,
  options: MigrateOptions,
): Promise<void> {
  mkdirSync(options.backupsDir, { recursive: true, mode: 0o700 });
  const name = `before-${first.id.replaceAll("/", "-")}-${options.clock.nowMs()}.db`;
  const file = join(options.backupsDir, name);
  await writeBackup(connection, file);
  options.log.info({ file }, "the database was backed up before its migration");
}
