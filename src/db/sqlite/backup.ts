/**
 * A checked copy of an open database. The copy is made by SQLite, never by `fs`, gets its name only when it
 * was read through and found whole, and is one file of mode 0600 that needs no log beside it.
 */
import { renameSync, rmSync } from "node:fs";
import Database from "better-sqlite3";
import { MemorydError } from "../../kernel/errors.js";
import { damagedReason, startErrorFrom } from "./errors.js";
import { type Connection, createPrivateFile } from "./open.js";

/** Writes the copy to `target`, replacing nothing that is there before the copy is whole. */
export async function writeBackup(connection: Connection, target: string): Promise<void> {
  const unfinished = `${target}.unfinished`;
  try {
    rmSync(unfinished, { force: true });
    createPrivateFile(unfinished);
    await connection.backup(unfinished);
    checkCopy(unfinished);
    renameSync(unfinished, target);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw startErrorFrom(error, target);
  }
}

function checkCopy(file: string): void {
  const copy = new Database(file);
  try {
    copy.pragma("journal_mode = DELETE");
    if (copy.pragma("integrity_check(1)", { simple: true }) === "ok") return;
    throw new MemorydError(
      "failed_precondition",
      "The database is damaged, so no whole copy of it can be made: restore an earlier backup.",
      { reason: damagedReason },
    );
  } finally {
    copy.close();
  }
}
