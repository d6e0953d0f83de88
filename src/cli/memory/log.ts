/** `memoryd memory log`: the kept states of a record, or of the cursor, newest first. */
import { Argument, Option } from "commander";
import {
  type CursorMessage,
  jsonFromCursor,
  jsonFromRevision,
  type RevisionMessage,
} from "../../client/record-json.js";
import { invalidArgument } from "../../kernel/errors.js";
import { byteLength } from "../../kernel/utf8.js";
import type { CommandSpec, Invocation } from "../command.js";
import { callSettings } from "../options.js";
import { sizeText } from "../quantities.js";
import { tableText } from "../table.js";
import { visibleLine } from "../visible.js";
import { kindText, revisionsOf, writerText } from "./history.js";
import { absentRecord, nameFrom, type RecordsClient, withRecords } from "./records.js";
import { timeText } from "./view.js";

async function* cursorsOf(records: RecordsClient): AsyncGenerator<CursorMessage> {
  let pageToken = "";
  do {
    const page = await records.listCursorRevisions({ pageSize: 100, pageToken });
    yield* page.cursors;
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
}

async function firstOf<T>(items: AsyncIterable<T>, most: number): Promise<T[]> {
  const taken: T[] = [];
  for await (const item of items) {
    taken.push(item);
    if (taken.length >= most) break;
  }
  return taken;
}

const redacted = "(redacted)";
const shownCharacters = 60;

/** How the text begins, in characters that are not cut apart. */
function beginningOf(text: string): string {
  const [line = ""] = text.trimStart().split(/\r?\n/, 1);
  return visibleLine([...line].slice(0, shownCharacters).join(""));
}

const revisionRow = ({ revision, kind, time, writer, memory, redacted: isRedacted }: RevisionMessage) => [
  String(revision),
  kindText(kind),
  timeText(time),
  writerText(writer),
  isRedacted ? redacted : visibleLine(memory?.status ?? ""),
];

const cursorRow = ({ revision, updateTime, writer, content, redacted: isRedacted }: CursorMessage) => [
  String(revision),
  timeText(updateTime),
  writerText(writer),
  ...(isRedacted ? ["", redacted] : [sizeText(byteLength(content)), beginningOf(content)]),
];

function limitFrom(text: string | undefined): number {
  if (text === undefined) return Number.POSITIVE_INFINITY;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw invalidArgument([{ field: "--limit", description: "must be a whole number from 1 on" }]);
}

async function logCursor(invocation: Invocation, limit: number): Promise<void> {
  const { output, isJson } = invocation;
  await withRecords(invocation, async (records) => {
    const cursors = await firstOf(cursorsOf(records), limit);
    if (isJson) await output.json({ cursors: cursors.map(jsonFromCursor) });
    else if (cursors.length === 0) output.note("No cursor was written in this workspace yet.");
    else {
      const head = ["REVISION", "TIME", "BY", "SIZE", "BEGINS"].map(output.paint.bold);
      await output.write(tableText([head, ...cursors.map(cursorRow)]));
    }
  });
}

async function logRecord(invocation: Invocation, name: string, limit: number): Promise<void> {
  const { output, isJson } = invocation;
  const show = async (records: RecordsClient): Promise<void> => {
    const revisions = await firstOf(revisionsOf(records, name), limit);
    if (isJson) await output.json({ revisions: revisions.map(jsonFromRevision) });
    else {
      const head = ["REVISION", "CHANGE", "TIME", "BY", "STATUS"].map(output.paint.bold);
      await output.write(tableText([head, ...revisions.map(revisionRow)]));
    }
  };
  await withRecords(invocation, show, absentRecord(name));
}

export const logCommand: CommandSpec = {
  description:
    "Lists the kept states of a record, newest first, also of a deleted one; with --cursor the kept values of " +
    "the cursor, the live one first. diff and restore take the revisions that it shows.",
  arguments: [new Argument("[name]", "The record's name")],
  options: [
    new Option("--cursor", "List the values of the cursor instead"),
    new Option("-n, --limit <count>", "Show only so many, the newest"),
  ],
  settings: callSettings,
  examples: [
    ["memoryd memory log cache-key", "Who changed it, and when"],
    ["memoryd memory log --cursor -n 5", "Where work stopped lately"],
  ],
  run: async (invocation) => {
    const { isSet, text } = invocation;
    const [argument] = invocation.arguments;
    const limit = limitFrom(text("limit"));
    if (!isSet("cursor")) await logRecord(invocation, nameFrom(argument), limit);
    else if (argument === undefined) await logCursor(invocation, limit);
    else {
      const description = "and --cursor cannot both be given; leave one out";
      throw invalidArgument([{ field: "NAME", description }]);
    }
    return undefined;
  },
};
