/**
 * `memoryd memory get`: one record. The contract has no call for a single record, so the list is read up to
 * its name; names that are near are told when it is not there.
 */
import { Argument } from "commander";
import { jsonFromRecord, type RecordMessage } from "../../client/record-json.js";
import { MemorydError } from "../../kernel/errors.js";
import { nearestNames } from "../../memory/nearest.js";
import type { CommandSpec } from "../command.js";
import { callSettings } from "../options.js";
import { type MemoryClient, nameFrom, pagesOf, recordNotFoundReason, withMemory } from "./records.js";
import { recordText } from "./view.js";

/** The record, or `not_found` with the names that may have been meant. */
async function findRecord(memory: MemoryClient, name: string): Promise<RecordMessage> {
  const names: string[] = [];
  for await (const { records } of pagesOf(memory)) {
    const found = records.find((record) => record.name === name);
    if (found !== undefined) return found;
    names.push(...records.map((record) => record.name));
  }
  const nearest = nearestNames(name, names);
  throw new MemorydError(
    "not_found",
    `There is no record ${name} here; memoryd memory ls lists those there are.`,
    {
      reason: recordNotFoundReason,
      ...(nearest.length === 0 ? {} : { metadata: { nearest: nearest.join(",") } }),
    },
  );
}

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
    await withMemory(invocation, async (memory) => {
      const record = await findRecord(memory, name);
      if (isJson) await output.json(jsonFromRecord(record));
      else await output.write(recordText(record));
    });
    return undefined;
  },
};
