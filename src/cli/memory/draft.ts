/**
 * The record that `put` is asked to write, from what was typed: a file in the contract's JSON, single options
 * on top of it, and the name. Whether it is a legal record is for the daemon to say.
 */
import type { JsonValue } from "@bufbuild/protobuf";
import { createRecordMessage, type RecordMessage, recordFromJson } from "../../client/record-json.js";
import { invalidArgument, type MemorydError } from "../../kernel/errors.js";
import {
  type RecordType,
  type Ref,
  recordTypes,
  refKinds,
  type SettableField,
  settableFields,
} from "../../memory/model.js";
import type { Invocation } from "../command.js";
import { standardInput } from "../input.js";
import { visibleLine } from "../visible.js";
import { nameFrom } from "./records.js";

export type Draft = {
  readonly record: RecordMessage;
  /** The fields that were given, in the contract's order. */
  readonly fields: readonly SettableField[];
};

const refused = (field: string, description: string): MemorydError =>
  invalidArgument([{ field, description }]);

const kindNames = Object.keys(refKinds);

/** `node:file:src/cache.ts`: the kind ends at the first colon, the target may hold more of them. */
function refFrom(text: string): Ref {
  const [name = ""] = text.split(":", 1);
  const target = text.slice(name.length + 1);
  const kind = Object.entries(refKinds).find(([known]) => known === name)?.[1];
  if (kind !== undefined && target !== "") return { kind, target };
  throw refused("--ref", `must be kind:target with a kind of ${kindNames.join(", ")}`);
}

const typeFrom = (name: string): RecordType | undefined =>
  Object.entries(recordTypes).find(([known]) => known === name)?.[1];

const hasMembers = (value: unknown): value is Record<string, JsonValue> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The contract's spelling of a type or kind that is written as `get` shows it: `plan` for `MEMORY_TYPE_PLAN`. */
const spelled = (prefix: string, names: object, value: JsonValue | undefined): JsonValue | undefined =>
  typeof value === "string" && Object.hasOwn(names, value) ? `${prefix}_${value.toUpperCase()}` : value;

/** The record with the short names of the command line replaced; what is no record stays as it is. */
function withContractNames(json: JsonValue): JsonValue {
  if (!hasMembers(json)) return json;
  const replaced = { ...json };
  const type = spelled("MEMORY_TYPE", recordTypes, json.type);
  if (type !== undefined) replaced.type = type;
  if (Array.isArray(json.refs)) {
    replaced.refs = json.refs.map((ref) => {
      const kind = hasMembers(ref) ? spelled("MEMORY_REF_KIND", refKinds, ref.kind) : undefined;
      return hasMembers(ref) && kind !== undefined ? { ...ref, kind } : ref;
    });
  }
  return replaced;
}

async function readRecordFile(file: string, { input }: Invocation): Promise<Draft> {
  const text = await input.read(file, "--file");
  let json: JsonValue;
  try {
    json = JSON.parse(text.replace(/^\ufeff/, ""));
  } catch {
    throw refused(
      "--file",
      "is given no JSON; it must hold one record, as memoryd memory get --json prints it",
    );
  }
  try {
    const record = recordFromJson(withContractNames(json));
    const names = Object.keys(json ?? {});
    return { record, fields: settableFields.filter((field) => names.includes(field)) };
  } catch (error) {
    const why = error instanceof Error ? error.message : "";
    throw refused("--file", `holds no record (${visibleLine(why)})`);
  }
}

async function bodyFrom({ text, input }: Invocation): Promise<string | undefined> {
  const [body, file] = [text("body"), text("bodyFile")];
  if (body !== undefined && file !== undefined)
    throw refused("--body", "and --body-file cannot both be given; leave one out");
  if (file === undefined) return body;
  if (file === standardInput && text("file") === standardInput)
    throw refused("--body-file", "and --file cannot both read stdin; name a file for one");
  return input.read(file, "--body-file");
}

/** The record's name; one that is left out is told apart from one that is no name. */
function nameOf(name: string | undefined): string {
  if (name !== undefined && name !== "") return nameFrom(name);
  throw refused("NAME", "is missing; give it as the argument, or in the record of --file");
}

/** What the options say, each over what the file says. */
export async function draftFrom(invocation: Invocation): Promise<Draft> {
  const {
    arguments: [argument],
    text,
    texts,
  } = invocation;
  const file = text("file");
  const base = file === undefined ? undefined : await readRecordFile(file, invocation);
  const type = text("type");
  const given = {
    type: type === undefined ? undefined : typeFrom(type),
    refs: texts("ref")?.map(refFrom),
    status: text("status"),
    body: await bodyFrom(invocation),
    references: texts("reference"),
  };
  const { record: before } = base ?? {};
  const record = createRecordMessage({
    name: nameOf(argument ?? before?.name),
    type: given.type ?? before?.type ?? 0,
    refs: [...(given.refs ?? before?.refs ?? [])],
    status: given.status ?? before?.status ?? "",
    body: given.body ?? before?.body ?? "",
    references: [...(given.references ?? before?.references ?? [])],
  });
  const fields = settableFields.filter(
    (field) => given[field] !== undefined || base?.fields.includes(field) === true,
  );
  if (fields.length === 0) {
    throw refused("put", "is given nothing to write; add --type and --ref, other fields, or --file");
  }
  return { record, fields };
}
