/** `memoryd memory delete`: deletes a record, if need be only in the state that was seen. */
import { Argument, Option } from "commander";
import { invalidArgument, isMemorydError } from "../../kernel/errors.js";
import type { CommandSpec } from "../command.js";
import { callSettings } from "../options.js";
import {
  ifUpdateTimeOption,
  type MemoryClient,
  nameFrom,
  preconditionOf,
  recordNotFoundReason,
  withMemory,
} from "./records.js";

export const deleteCommand: CommandSpec = {
  description:
    "Deletes a record. Records that have it among their references keep the name. A record that is not there " +
    "is an error, unless --allow-missing says otherwise.",
  arguments: [new Argument("<name>", "The record's name")],
  options: [
    new Option("--allow-missing", "Succeed when there is no such record"),
    ifUpdateTimeOption("Delete only what was last written at this time"),
  ],
  settings: callSettings,
  examples: [
    ["memoryd memory delete cache-key", "Delete it"],
    [
      "memoryd memory delete cache-key --if-update-time 2026-03-04T05:06:07.089Z",
      "Only if nobody has written it since",
    ],
  ],
  run: async (invocation) => {
    const { output, isJson, isSet } = invocation;
    const name = nameFrom(invocation.arguments[0]);
    if (invocation.text("ifUpdateTime") === "absent") {
      const description =
        "cannot be absent when something is to be deleted; give the time that you have seen";
      throw invalidArgument([{ field: "--if-update-time", description }]);
    }
    const options = preconditionOf(invocation);
    const remove = async (memory: MemoryClient): Promise<void> => {
      await memory.deleteMemory({ name }, options);
    };
    let isDeleted = true;
    try {
      const absent = `There is no record ${name} here; correct the name, or add --allow-missing.`;
      await withMemory(invocation, remove, absent);
    } catch (error) {
      // Asked for without allow_missing, whose answer is the same whether there was one or not.
      const isAbsent = isMemorydError(error) && error.reason === recordNotFoundReason;
      if (!isAbsent || !isSet("allowMissing")) throw error;
      isDeleted = false;
    }
    if (isJson) await output.json({});
    else await output.write(isDeleted ? `Deleted ${name}.\n` : `There was no record ${name}.\n`);
    return undefined;
  },
};
