/** Records and cursors as people read them. All stored text is made visible first (memory.md M90). */
import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import type { ConflictMessage, RecordMessage } from "../../client/record-json.js";
import { recordTypes, refKinds } from "../../memory/model.js";
import { tableText } from "../table.js";
import { visibleBlock, visibleLine } from "../visible.js";

const nameByNumber = (names: Readonly<Record<string, number>>): ReadonlyMap<number, string> =>
  new Map(Object.entries(names).map(([name, number]) => [number, name]));

const typeNames = nameByNumber(recordTypes);
const kindNames = nameByNumber(refKinds);

export const typeText = (type: number): string => typeNames.get(type) ?? `type ${type}`;

/** With every digit that is stored, because it is copied into `--if-update-time`. */
export const timeText = (time: Timestamp | undefined): string =>
  time === undefined ? "" : new Date(timestampMs(time)).toISOString();

export const refText = ({ kind, target }: RecordMessage["refs"][number]): string =>
  `${kindNames.get(kind) ?? `kind ${kind}`} ${visibleLine(target)}`;

/** `1 ref`, `3 refs`. */
export const countText = (count: number, word: string): string => `${count} ${word}${count === 1 ? "" : "s"}`;

/** One value a line; further values of a list stand under the first. */
function rowsOf(label: string, values: readonly string[]): readonly (readonly string[])[] {
  return values.map((value, index) => [index === 0 ? label : "", value]);
}

/** Everything of a record, its body last. */
export function recordText(record: RecordMessage): string {
  const status = record.status === "" ? [] : [visibleLine(record.status)];
  const rows = [
    ["name", visibleLine(record.name)],
    ["type", typeText(record.type)],
    ...rowsOf("status", status),
    ...rowsOf("refs", record.refs.map(refText)),
    ...rowsOf("references", record.references.map(visibleLine)),
    ["created", timeText(record.createTime)],
    ["updated", timeText(record.updateTime)],
  ];
  const body = record.body === "" ? "" : `\n${visibleBlock(record.body)}\n`;
  return `${tableText(rows)}${body}`;
}

/** The cursor as a terminal may show it, always with a line break at its end. */
export const cursorText = (content: string): string =>
  content === "" || content.endsWith("\n") ? visibleBlock(content) : `${visibleBlock(content)}\n`;

/** What is stored now, below the sentence that a conditional write was refused with. */
export function conflictText(conflict: ConflictMessage): string {
  const { record, cursor, truncated } = conflict;
  const cut = truncated ? "\n(its long parts were left out; read it with memoryd memory get)" : "";
  if (record?.memory !== undefined) return `\n${recordText(record.memory).trimEnd()}${cut}`;
  if (cursor === undefined) return "\nNothing is stored.";
  return `\nThe cursor, written ${timeText(cursor.updateTime)}:\n${cursorText(cursor.content).trimEnd()}${cut}`;
}
