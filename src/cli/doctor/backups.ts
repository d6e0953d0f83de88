/** What `doctor` says of the backups folder (daemon.md D30): how many copies there are, and how old the newest is. */
import { listBackups } from "../../engines/backups.js";
import { systemClock } from "../../kernel/clock.js";
import { durationText } from "../quantities.js";
import { type Examination, well } from "./finding.js";

export const examineBackups: Examination = ({ config }) => {
  const { databaseFile, backupsDir } = config.paths;
  if (databaseFile === undefined) return [];
  const backups = listBackups(backupsDir);
  const [newest] = backups;
  if (newest === undefined) {
    const next = config.backup.daily ? "a daemon that runs makes one a day" : "memoryd backup makes one";
    return [well("backups", `There are none in ${backupsDir}; ${next}.`)];
  }
  const age = durationText(Math.max(systemClock.nowMs() - newest.atMs, 0) / 1_000);
  const count = backups.length === 1 ? "1 copy" : `${backups.length} copies`;
  return [well("backups", `${count}, the newest ${age} old, in ${backupsDir}.`)];
};
