/** `memoryd memory restore`: writes an earlier state of a record again, also of a deleted one. */
import { Argument } from "commander";
import { jsonFromRecord } from "../../client/record-json.js";
import type { CommandSpec } from "../command.js";
import { callSettings } from "../options.js";
import { revisionFrom } from "./history.js";
import {
  absentRecord,
  ifUpdateTimeOption,
  nameFrom,
  preconditionOf,
  type RecordsClient,
  withRecords,
} from "./records.js";
import { timeText } from "./view.js";

export const restoreCommand: CommandSpec = {
  description:
    "Writes an earlier state of a record as a new one; a deleted record comes back with the time at which it " +
    "was made. Without a revision it is the newest state before the current one, so a second restore takes " +
    "the first one back.",
  arguments: [
    new Argument("<name>", "The record's name"),
    new Argument("[revision]", "A revision that memoryd memory log shows"),
  ],
  options: [
    ifUpdateTimeOption("Restore only over what was last written at this time, or over nothing with absent"),
  ],
  settings: callSettings,
  examples: [
    ["memoryd memory restore cache-key", "Undo the last write, or a delete"],
    ["memoryd memory restore cache-key 12", "Bring revision 12 back"],
  ],
  run: async (invocation) => {
    const { output, isJson } = invocation;
    const [argument, wanted] = invocation.arguments;
    const name = nameFrom(argument);
    const revision = wanted === undefined ? 0n : revisionFrom(wanted);
    const options = preconditionOf(invocation);
    const restore = async (records: RecordsClient): Promise<void> => {
      const { record } = await records.restoreRecord({ name, revision }, options);
      if (record?.memory === undefined) throw new Error("a restore was answered without its record");
      if (isJson) await output.json(jsonFromRecord(record.memory));
      else {
        const time = timeText(record.memory.updateTime);
        await output.write(`Restored ${name} as revision ${record.revision} at ${time}.\n`);
      }
    };
    await withRecords(invocation, restore, absentRecord(name));
    return undefined;
  },
};
