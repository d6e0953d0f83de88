/** `memoryd memory get`: one record; names that are near are told when it is not there. */
import { Argument } from "commander";
import { jsonFromRecord } from "../../client/record-json.js";
import type { CommandSpec } from "../command.js";
import { callSettings } from "../options.js";
import { absentRecord, nameFrom, type RecordsClient, withRecords } from "./records.js";
import { recordText } from "./view.js";

export const getCommand: CommandSpec = {
  description:
    "Shows one record with its refs, references and body. With --json it is the record itself, as put --file " +
    "takes it.",
  arguments: [new Argument("<name>", "The record's name")],
  settings: callSettings,
  examples: [
    ["memoryd memory get cache-key", "Read it"],
    ["memoryd memory get cache-key --json | memoryd memory put cache-key-2 --file -", "Copy it"],
  ],
  run: async (invocation) => {
    const { output, isJson } = invocation;
    const name = nameFrom(invocation.arguments[0]);
    const show = async (records: RecordsClient): Promise<void> => {
      const { memory } = (await records.getRecord({ name })).record ?? {};
      if (memory === undefined) throw new Error("a get was answered without its record");
      if (isJson) await output.json(jsonFromRecord(memory));
      else await output.write(recordText(memory));
    };
    await withRecords(invocation, show, absentRecord(name));
    return undefined;
  },
};
