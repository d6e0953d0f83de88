/** `memoryd memory redact`: empties the earlier states of a record, or of the cursor, for good. */
import { Argument, Option } from "commander";
import { invalidArgument } from "../../kernel/errors.js";
import type { CommandSpec, Invocation } from "../command.js";
import { callSettings } from "../options.js";
import { absentRecord, nameFrom, type RecordsClient, withRecords } from "./records.js";
import { countText } from "./view.js";

/** What is to be emptied: exactly one of a name and the cursor. */
function subjectFrom({ arguments: [argument], isSet }: Invocation): { name: string; cursor: boolean } {
  if (!isSet("cursor")) return { name: nameFrom(argument), cursor: false };
  if (argument === undefined) return { name: "", cursor: true };
  const description = "and --cursor cannot both be given; leave one out";
  throw invalidArgument([{ field: "NAME", description }]);
}

export const redactCommand: CommandSpec = {
  description:
    "Empties the earlier states of a record, or with --cursor of the cursor, so that their text is in no file " +
    "of the daemon any more; when, by whom and what kind of change each was stays. What is stored now is not " +
    "touched; of a deleted record everything goes. It cannot be undone and needs a token with the right admin. " +
    "Backups are not changed.",
  arguments: [new Argument("[name]", "The record's name")],
  options: [
    new Option("--cursor", "Empty the earlier values of the cursor instead"),
    new Option("--yes", "Say that it is meant; nothing happens without it"),
  ],
  settings: callSettings,
  examples: [
    ["memoryd memory redact cache-key --yes", "A secret was written there, and replaced since"],
    ["memoryd memory redact --cursor --yes", "The same for the cursor"],
  ],
  run: async (invocation) => {
    const { output, isJson, isSet } = invocation;
    const subject = subjectFrom(invocation);
    if (!isSet("yes")) {
      const description = "must be given, because what is emptied cannot be brought back";
      throw invalidArgument([{ field: "--yes", description }]);
    }
    const redact = async (records: RecordsClient): Promise<void> => {
      const { redactedCount } = await records.redactRecordRevisions(subject);
      const whose = subject.cursor ? "the cursor" : subject.name;
      if (isJson) await output.json({ redactedCount });
      else await output.write(`Emptied ${countText(redactedCount, "earlier state")} of ${whose}.\n`);
    };
    await withRecords(invocation, redact, absentRecord(subject.name));
    return undefined;
  },
};
