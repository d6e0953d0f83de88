/**
 * New epochs on SQLite (memory.md M57): what a restored database gets, so that a watch that knew its later life
 * begins with reset. And how far a database has come: positions only ever grow, so an earlier state of it has a
 * smaller sum of them.
 */
import type { Connection } from "../db/sqlite/open.js";
import { epochBytes } from "./sqlite-statements.js";

/** Gives every workspace a new epoch; answers how many there are. */
export const renewMemoryEpochs = (connection: Connection): number =>
  connection.prepare(`update memory_workspaces set epoch = lower(hex(randomblob(${epochBytes})))`).run()
    .changes;

/** The positions of all workspaces together. */
export const memoryProgress = (connection: Connection): number =>
  Number(connection.prepare("select coalesce(sum(position), 0) from memory_workspaces").pluck().get());
