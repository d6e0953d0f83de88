/** `memoryd memory search`: records found by words and filters, best first, and on demand why. */
import { Argument, Option } from "commander";
import {
  jsonFromSearch,
  type SearchHitMessage,
  type SearchMessage,
  type SearchRequestMessage,
} from "../../client/record-json.js";
import { invalidArgument } from "../../kernel/errors.js";
import { recordTypes, refKinds } from "../../memory/model.js";
import { type CommandSpec, type Invocation, repeatable } from "../command.js";
import { callSettings } from "../options.js";
import type { Output } from "../output.js";
import { tableText } from "../table.js";
import { visibleLine } from "../visible.js";
import { withRecords } from "./records.js";
import { countText, refText, timeText, typeText } from "./view.js";

const maxCellCharacters = 60;
const defaultLimit = 20;
const maxPageSize = 100;

function limitFrom(text: string | undefined): number {
  if (text === undefined) return defaultLimit;
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw invalidArgument([{ field: "--limit", description: "must be a whole number from 1 to 999,999" }]);
}

const cut = (text: string): string => {
  const characters = [...text];
  return characters.length > maxCellCharacters
    ? `${characters.slice(0, maxCellCharacters - 1).join("")}…`
    : text;
};

/** The numbers of what was named; a name that nobody knows is refused before anybody is asked. */
function numbersOf(
  field: string,
  given: readonly string[] | undefined,
  known: Readonly<Record<string, number>>,
): number[] {
  const byName = new Map(Object.entries(known));
  return (given ?? []).map((name) => {
    const number = byName.get(name);
    if (number !== undefined) return number;
    throw invalidArgument([{ field, description: `must be one of ${[...byName.keys()].join(", ")}` }]);
  });
}

function requestFrom({ arguments: words, text, texts, isSet }: Invocation): SearchRequestMessage {
  return {
    query: words.filter((word) => word !== undefined).join(" "),
    explain: isSet("explain"),
    types: numbersOf("--type", texts("type"), recordTypes),
    statuses: [...(texts("status") ?? [])],
    refKinds: numbersOf("--ref-kind", texts("refKind"), refKinds),
    refTarget: text("refTarget") ?? "",
    referencedName: text("references") ?? "",
  };
}

/** Whatever one answer holds, with the hits of as many pages as it takes. */
async function searchAll(
  search: (request: SearchRequestMessage) => Promise<SearchMessage>,
  request: SearchRequestMessage,
  limit: number,
): Promise<SearchMessage> {
  const hits: SearchHitMessage[] = [];
  for (let pageToken = ""; ; ) {
    const page = await search({
      ...request,
      pageSize: Math.min(limit - hits.length, maxPageSize),
      pageToken,
    });
    hits.push(...page.hits);
    pageToken = page.nextPageToken;
    if (pageToken === "" || hits.length >= limit) return { ...page, hits };
  }
}

const columns = ["NAME", "TYPE", "STATUS", "UPDATED", "FIRST REF"] as const;

function rowOf({ record }: SearchHitMessage): string[] {
  const memory = record?.memory;
  const [first] = memory?.refs ?? [];
  return [
    visibleLine(memory?.name ?? ""),
    typeText(memory?.type ?? 0),
    cut(visibleLine(memory?.status ?? "")),
    timeText(memory?.updateTime),
    first === undefined ? "" : cut(refText(first)),
  ];
}

const shareText = (part: number, whole: number): string =>
  whole > 0 ? `${Math.round((100 * part) / whole)}%` : "";

/** One hit with what each of its terms gave. */
function whyText({ record, score, explanation }: SearchHitMessage, output: Output): string {
  const name = visibleLine(record?.memory?.name ?? "");
  const { terms = [], missingWords = [] } = explanation ?? {};
  const rows = terms.map(({ term, prefix, fields, weightedCount, score: part }) => [
    `  ${visibleLine(term)}${prefix ? "*" : ""}`,
    `in ${fields.join(", ")}`,
    `${weightedCount}`,
    shareText(part, score),
  ]);
  const missing =
    missingWords.length === 0
      ? ""
      : `  ${output.paint.dim(`without ${missingWords.map(visibleLine).join(", ")}`)}\n`;
  return `${output.paint.bold(name)}  ${score.toPrecision(3)}\n${tableText(rows)}${missing}`;
}

async function print(answer: SearchMessage, request: SearchRequestMessage, output: Output): Promise<void> {
  const { hits, totalSize, words, wordsTruncated } = answer;
  if (hits.length === 0) {
    output.note("No record of this workspace matches; memoryd memory ls lists those there are.");
  } else if (request.explain && words.length > 0) {
    await output.write(hits.map((hit) => whyText(hit, output)).join("\n"));
  } else {
    await output.write(tableText([columns.map((title) => output.paint.bold(title)), ...hits.map(rowOf)]));
  }
  if (totalSize > hits.length && hits.length > 0) {
    output.note(`${hits.length} of ${countText(totalSize, "record")}; --limit shows more.`);
  }
  if (wordsTruncated) output.note("The query was too long, and not all of it was looked for.");
}

export const searchCommand: CommandSpec = {
  description:
    "Finds records of a workspace by words in their names, targets, statuses and bodies, best first. Any text " +
    'is a query: words, names as-in-code, paths, "phrases" in quotes, beginnings*. Without a query it lists ' +
    "what the options leave, newest first.",
  arguments: [new Argument("[query...]", "What to look for; a record is found by any of the words")],
  options: [
    repeatable("--type <type>", "Only records of this type: pointer, decision or plan"),
    repeatable("--status <status>", "Only records with this status, letter case aside"),
    repeatable(
      "--ref-kind <kind>",
      "Only records with a ref of this kind: query, node, output, command or doc",
    ),
    new Option(
      "--ref-target <path>",
      "Only records that point at this path, or with a / at its end below it",
    ),
    new Option("--references <name>", "Only records that reference this one"),
    new Option("-n, --limit <count>", "Show at most so many (default: 20)"),
    new Option("--explain", "Show why each record was found"),
  ],
  settings: callSettings,
  examples: [
    ["memoryd memory search cache key", "Which records speak of it?"],
    ["memoryd memory search --ref-target src/cache/", "Which point into this folder?"],
    ["memoryd memory search 'parseHTTPHeader' --explain", "And why were they found?"],
    ["memoryd memory search --type plan --status active", "Which plans are active, newest first?"],
  ],
  run: async (invocation) => {
    const { output, isJson, text } = invocation;
    const request = requestFrom(invocation);
    const limit = limitFrom(text("limit"));
    await withRecords(invocation, async (records) => {
      const answer = await searchAll((of) => records.searchRecords(of), request, limit);
      if (isJson) await output.json(jsonFromSearch(answer));
      else await print(answer, request, output);
    });
    return undefined;
  },
};
