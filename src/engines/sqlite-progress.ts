/**
 * Notices a database file that was put back by hand (daemon.md D30), and gives it new epochs as a restore does.
 *
 * | remembered | the database | it gets |
 * | --- | --- | --- |
 * | some progress | came as far or further | nothing |
 * | some progress | came less far | new epochs: an earlier state of it, or another one |
 * | nothing | is new | nothing |
 * | nothing | holds something | new epochs: the file came from elsewhere, or the state folder was lost |
 */
import { readProgress, writeProgress } from "../config/progress.js";
import type { Connection } from "../db/sqlite/open.js";
import type { Log } from "../kernel/log.js";
import { memoryProgress, renewMemoryEpochs } from "../memory/sqlite-epochs.js";

export type ProgressNotes = {
  /** Writes down how far the database has come since; call it last before the database closes. */
  readonly close: () => void;
};

/** So much of a crash's last writes a restored file may hold unnoticed. */
const noteEveryMs = 60_000;

/** Compares, renews where that is due, and keeps notes from then on. */
export function keepProgress(connection: Connection, file: string, log: Log): ProgressNotes {
  const found = memoryProgress(connection);
  const remembered = readProgress(file);
  const isFromElsewhere = remembered === undefined ? found > 0 : found < remembered;
  if (isFromElsewhere) renew(connection, log);
  let written = remembered;

  const note = (): void => {
    try {
      const position = memoryProgress(connection);
      if (position === written) return;
      writeProgress(file, position);
      written = position;
    } catch (error) {
      // Safe to go on: the older note is true as well, and the next one may succeed.
      log.warn({ error }, "how far the database has come could not be noted");
    }
  };

  note();
  const timer = setInterval(note, noteEveryMs);
  timer.unref();
  return {
    close: () => {
      clearInterval(timer);
      note();
    },
  };
}

function renew(connection: Connection, log: Log): void {
  const workspaces = connection.transaction(() => renewMemoryEpochs(connection)).immediate();
  log.warn({ workspaces }, "the database file was put here by hand: watches begin anew with reset");
}
