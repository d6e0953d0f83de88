/** `memoryd memory ls`: the records of a workspace, every page of them, each printed as it arrives. */
import { Option } from "commander";
import { jsonFromRecord, type RecordMessage } from "../../client/record-json.js";
import { invalidArgument } from "../../kernel/errors.js";
import type { CommandSpec, Invocation } from "../command.js";
import { callSettings } from "../options.js";
import { jsonFor, type Output } from "../output.js";
import { tableText } from "../table.js";
import { visibleLine } from "../visible.js";
import { type Page, pagesOf, withMemory } from "./records.js";
import { refText, timeText, typeText } from "./view.js";

const maxPageSize = 2 ** 31 - 1;
const maxCellCharacters = 60;

function pageSizeFrom(text: string | undefined): number {
  if (text === undefined) return 0;
  if (/^\d{1,10}$/.test(text) && Number(text) <= maxPageSize) return Number(text);
  throw invalidArgument([
    { field: "--page-size", description: "must be a whole number; 0 asks for as many as fit" },
  ]);
}

const cut = (text: string): string =>
  text.length > maxCellCharacters ? `${text.slice(0, maxCellCharacters - 1)}…` : text;

type Column = {
  readonly title: string;
  readonly isLong?: true;
  /** Holds free text, so that only a table of its own knows how wide it is. */
  readonly isFree?: true;
  readonly cell: (record: RecordMessage) => string;
};

const allColumns: readonly Column[] = [
  { title: "NAME", cell: ({ name }) => visibleLine(name) },
  { title: "TYPE", cell: ({ type }) => typeText(type) },
  { title: "UPDATED", cell: ({ updateTime }) => timeText(updateTime) },
  { title: "CREATED", isLong: true, cell: ({ createTime }) => timeText(createTime) },
  { title: "REFS", cell: ({ refs }) => String(refs.length) },
  { title: "REFERENCES", isLong: true, cell: ({ references }) => String(references.length) },
  { title: "STATUS", isFree: true, cell: ({ status }) => visibleLine(status) },
  {
    title: "FIRST REF",
    isLong: true,
    isFree: true,
    cell: ({ refs: [first] }) => (first === undefined ? "" : cut(refText(first))),
  },
];

/** Prints pages under one head; a column never gets narrower, so that the pages stand in line. */
async function printTables(
  pages: AsyncIterable<Page>,
  isLong: boolean,
  output: Output,
  workspace: string | undefined,
): Promise<number> {
  const columns = allColumns.filter((column) => isLong || column.isLong !== true);
  const widths = columns.map(({ title }) => title.length);
  let count = 0;
  let skippedCount = 0;
  for await (const { records, skipped } of pages) {
    skippedCount += skipped;
    if (records.length === 0) continue;
    const rows = records.map((record) => columns.map(({ cell }) => cell(record)));
    for (const row of rows) {
      for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
    }
    const head = count === 0 ? [columns.map(({ title }) => output.paint.bold(title))] : [];
    const fixed = columns.map(({ isFree }, at) => (isFree === true ? undefined : widths[at]));
    await output.write(tableText([...head, ...rows], fixed));
    count += records.length;
  }
  if (count === 0) {
    const where = workspace === undefined ? "the default workspace" : `the workspace ${workspace}`;
    output.note(`There are no records in ${where}; memoryd memory put makes one.`);
  }
  return skippedCount;
}

/** One document, whose records are written as they arrive. */
async function printJson(pages: AsyncIterable<Page>, output: Output): Promise<void> {
  let separator = "";
  let skippedCount = 0;
  await output.write('{"memories":[');
  for await (const { records, skipped } of pages) {
    skippedCount += skipped;
    for (const record of records) {
      await output.write(`${separator}\n${jsonFor(output.isTerminal, jsonFromRecord(record))}`);
      separator = ",";
    }
  }
  const skipped = skippedCount === 0 ? "" : `,"skippedRecords":${skippedCount}`;
  await output.write(`${separator === "" ? "" : "\n"}]${skipped}}\n`);
}

async function list(invocation: Invocation): Promise<void> {
  const { output, isJson, isSet, text } = invocation;
  const pageSize = pageSizeFrom(text("pageSize"));
  await withMemory(invocation, async (memory) => {
    const pages = pagesOf(memory, pageSize);
    if (isJson) {
      await printJson(pages, output);
      return;
    }
    const skipped = await printTables(pages, isSet("long"), output, invocation.config().client.workspace);
    if (skipped > 0)
      output.note(
        `${skipped} more cannot be read any longer; memoryd memory put replaces one, delete drops it.`,
      );
  });
}

export const lsCommand: CommandSpec = {
  description:
    "Lists all records of a workspace in the order of their names. The update time is what --if-update-time " +
    "of put and delete takes.",
  options: [
    new Option("-l, --long", "Also show when each was made, its references and its first ref"),
    new Option(
      "--page-size <count>",
      "Ask for so many records at a time; 0, the default, for as many as fit",
    ),
  ],
  settings: callSettings,
  examples: [
    ["memoryd memory ls", "What is kept in the default workspace"],
    ["memoryd memory ls --workspace widget --long", "More of each, in another workspace"],
    ["memoryd memory ls --json | jq -r '.memories[].name'", "The names alone"],
  ],
  run: async (invocation) => {
    await list(invocation);
    return undefined;
  },
};
