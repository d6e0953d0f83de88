/** Whether a daemon owns a database file (daemon.md D6), for commands that must not become its owner. */
import { existsSync } from "node:fs";
import { acquireOwnership } from "../db/sqlite/ownership.js";
import { isMemorydError } from "../kernel/errors.js";

/** Owns it for a moment where nobody does; makes no lock where there was none. */
export function isOwned(databaseFile: string): boolean {
  if (!existsSync(`${databaseFile}.lock`)) return false;
  try {
    acquireOwnership(databaseFile).release();
    return false;
  } catch (error) {
    if (isMemorydError(error) && error.reason === "DATABASE_OWNED") return true;
    throw error;
  }
}
