/** `memoryd memory delete`: deletes a record, if need be only in the state that was seen. */
import { Argument, Option } from "commander";
import type { CommandSpec } from "../command.js";
import { callSettings } from "../options.js";
import { ifUpdateTimeOption, type MemoryClient, nameFrom, preconditionOf, withMemory } from "./records.js";

const absent = "There is no such record here; correct the name, or add --allow-missing.";

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
    const options = preconditionOf(invocation);
    const allowMissing = isSet("allowMissing");
    const remove = async (memory: MemoryClient): Promise<void> => {
      await memory.deleteMemory({ name, allowMissing }, options);
    };
    await withMemory(invocation, remove, absent);
    if (isJson) await output.json({});
    else await output.write(`Deleted ${name}.\n`);
    return undefined;
  },
};
