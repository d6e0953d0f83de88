/**
 * `memoryd memory put`: writes a record.
 *
 * | options | the write |
 * | --- | --- |
 * | none | full replace: fields that are not given are cleared; made when absent |
 * | `--patch` | the given fields alone change |
 * | `--no-create` | a record that is absent is an error |
 * | `--if-update-time` | only what was seen is overwritten, or with `absent` nothing |
 */
import { Argument, Option } from "commander";
import { jsonFromRecord } from "../../client/record-json.js";
import { invalidArgument, isMemorydError, MemorydError } from "../../kernel/errors.js";
import { recordTypes, refKinds } from "../../memory/model.js";
import { type CommandSpec, type Invocation, repeatable } from "../command.js";
import { callSettings } from "../options.js";
import { type Draft, draftFrom } from "./draft.js";
import {
  ifUpdateTimeOption,
  type MemoryClient,
  preconditionOf,
  recordNotFoundReason,
  withMemory,
} from "./records.js";
import { countText, timeText, typeText } from "./view.js";

const kinds = Object.keys(refKinds).join(", ");

const flagByField: ReadonlyMap<string, string> = new Map([
  ["name", "NAME"],
  ["type", "--type"],
  ["refs", "--ref"],
  ["status", "--status"],
  ["body", "--body"],
  ["references", "--reference"],
]);

/** Faults of fields in the words of the command line: `memory.refs[2].target` is the third `--ref`. */
function withFlagsNamed(error: unknown): unknown {
  if (!isMemorydError(error) || error.code !== "invalid_argument" || error.violations.length === 0)
    return error;
  const violations = error.violations.map(({ field, description }) => {
    const [, name = "", index] = /^memory\.(\w+)(?:\[(\d+)\])?/.exec(field) ?? [];
    const flag = flagByField.get(name);
    if (flag === undefined) return { field, description };
    return { field: index === undefined ? flag : `${flag} (number ${Number(index) + 1})`, description };
  });
  return invalidArgument(violations, error.reason);
}

/**
 * A partial update is refused for a field that it does not name only when there is no record to change, and
 * then the daemon's sentence about that field would puzzle who mistyped the name.
 */
function withAbsenceTold(error: unknown, { record, fields }: Draft): unknown {
  if (!isMemorydError(error)) return error;
  const isAbsent = (["type", "refs"] as const).some(
    (field) => !fields.includes(field) && error.violations.some((fault) => fault.field === `memory.${field}`),
  );
  if (!isAbsent) return error;
  return new MemorydError(
    "not_found",
    `There is no record ${record.name} to patch, and the given fields do not make one; correct the name, or add --type and --ref.`,
    { reason: recordNotFoundReason, cause: error },
  );
}

async function write(memory: MemoryClient, draft: Draft, invocation: Invocation): Promise<void> {
  const { output, isJson, isSet } = invocation;
  const request = {
    memory: draft.record,
    // The parser keeps --no-create under this name.
    allowMissing: !isSet("create"),
    ...(isSet("patch") ? { updateMask: { paths: [...draft.fields] } } : {}),
  };
  const { memory: stored } = await memory.updateMemory(request, preconditionOf(invocation));
  if (stored === undefined) throw new Error("an update was answered without its record");
  if (isJson) await output.json(jsonFromRecord(stored));
  else {
    const what = `${typeText(stored.type)}, ${countText(stored.refs.length, "ref")}`;
    await output.write(`Wrote ${stored.name} (${what}) at ${timeText(stored.updateTime)}.\n`);
  }
}

export const putCommand: CommandSpec = {
  description:
    "Writes a record. By itself it is a full replace: what is not given is cleared, and an absent record is " +
    "made. With --patch the given fields alone change. Options win over the fields of --file, and the name " +
    "wins over the one in it. When somebody else wrote in between (--if-update-time), what is stored now is " +
    "shown, to merge into, and the command ends with code 6.",
  arguments: [new Argument("[name]", "The record's name; may be left out when --file has it")],
  options: [
    new Option("--type <type>", "What sort of record it is").choices(Object.keys(recordTypes)),
    repeatable("--ref <kind:target>", `What it points at; kinds are ${kinds}`),
    new Option("--status <text>", "A free word for the state of affairs"),
    new Option("--body <text>", "The prose of a decision or plan"),
    new Option("--body-file <file>", "Take the body from this file; - is stdin"),
    repeatable("--reference <name>", "The name of another record"),
    new Option("--file <file>", "Take the record from this file, in the contract's JSON; - is stdin"),
    new Option("--patch", "Change only the fields that are given"),
    new Option("--no-create", "Fail when there is no such record"),
    ifUpdateTimeOption("Overwrite only what was last written at this time, or nothing with absent"),
  ],
  settings: callSettings,
  examples: [
    ["memoryd memory put api --type pointer --ref doc:docs/api.md", "A pointer to a document"],
    [
      "memoryd memory put cache-key --type decision --ref node:file:src/cache.ts --body-file why.md",
      "A decision, with its reasons from a file",
    ],
    ["memoryd memory put cache-key --patch --status accepted", "Change one field of it"],
    [
      "memoryd memory put cache-key --patch --status done --if-update-time 2026-03-04T05:06:07.089Z",
      "Only if nobody has written it since",
    ],
    ["memoryd memory get cache-key --json | memoryd memory put cache-key-2 --file -", "Copy it"],
  ],
  run: async (invocation) => {
    // Refused before anything is read or a daemon started.
    preconditionOf(invocation);
    const draft = await draftFrom(invocation);
    const absent = `There is no record ${draft.record.name} here; leave out --no-create to make it, or correct the name.`;
    try {
      await withMemory(invocation, (memory) => write(memory, draft, invocation), absent);
    } catch (error) {
      throw withFlagsNamed(invocation.isSet("patch") ? withAbsenceTold(error, draft) : error);
    }
    return undefined;
  },
};
