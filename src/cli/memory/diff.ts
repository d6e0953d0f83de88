/**
 * `memoryd memory diff`: what changed between two states of a record, as a unified diff of how `get` shows it.
 *
 * | revisions given | compared |
 * | --- | --- |
 * | none | the newest state with the one before it |
 * | one | that one with the newest |
 * | two | the first with the second |
 */
import { Argument } from "commander";
import { jsonFromRevision, type RevisionMessage } from "../../client/record-json.js";
import { MemorydError } from "../../kernel/errors.js";
import type { CommandSpec } from "../command.js";
import { callSettings } from "../options.js";
import type { Output } from "../output.js";
import { visibleBlock, visibleLine } from "../visible.js";
import { kindText, revisionFrom, revisionsOf, writerText } from "./history.js";
import { diffOfLines, type Hunk, hunksOf } from "./line-diff.js";
import { absentRecord, nameFrom, type RecordsClient, withRecords } from "./records.js";
import { refText, timeText, typeText } from "./view.js";

type Pair = { readonly from: RevisionMessage; readonly to: RevisionMessage };

const notFound = (message: string): MemorydError =>
  new MemorydError("not_found", message, { reason: "REVISION_NOT_FOUND" });

const notKept = (revision: bigint, name: string): MemorydError =>
  notFound(`No revision ${revision} of ${name} is kept; memoryd memory log ${name} lists those that are.`);

/** The two revisions, found in one reading of the list. */
async function findPair(records: RecordsClient, name: string, wanted: readonly bigint[]): Promise<Pair> {
  const found = new Map<bigint, RevisionMessage>();
  const newest: RevisionMessage[] = [];
  for await (const revision of revisionsOf(records, name)) {
    if (newest.length < 2) newest.push(revision);
    if (wanted.includes(revision.revision)) found.set(revision.revision, revision);
    if (newest.length === 2 && found.size === new Set(wanted).size) break;
  }
  const pick = (revision: bigint): RevisionMessage => {
    const message = found.get(revision);
    if (message === undefined) throw notKept(revision, name);
    return message;
  };
  const [last, beforeLast] = newest;
  const [first, second] = wanted;
  const to = second === undefined ? last : pick(second);
  const from = first === undefined ? beforeLast : pick(first);
  if (from === undefined || to === undefined) {
    throw notFound(`Only one state of ${name} is kept, so there is nothing to compare it with.`);
  }
  return { from, to };
}

/** The record as lines; a deletion has none. */
function linesOf({ memory, redacted, revision }: RevisionMessage): string[] {
  if (redacted) {
    throw new MemorydError(
      "failed_precondition",
      `Revision ${revision} was redacted, so nothing of it can be compared; choose another one.`,
      { reason: "REVISION_UNUSABLE" },
    );
  }
  if (memory === undefined) return [];
  return [
    `type ${typeText(memory.type)}`,
    ...(memory.status === "" ? [] : [`status ${visibleLine(memory.status)}`]),
    ...memory.refs.map((ref) => `ref ${refText(ref)}`),
    ...memory.references.map((name) => `reference ${visibleLine(name)}`),
    ...(memory.body === "" ? [] : ["", ...visibleBlock(memory.body).split("\n")]),
  ];
}

const titleOf = (name: string, { revision, kind, time, writer }: RevisionMessage): string =>
  `${name} revision ${revision} (${kindText(kind)} ${timeText(time)} by ${writerText(writer)})`;

const headOf = ({ fromLine, fromCount, toLine, toCount }: Hunk): string =>
  `@@ -${fromLine},${fromCount} +${toLine},${toCount} @@`;

function diffText(name: string, { from, to }: Pair, hunks: readonly Hunk[], paint: Output["paint"]): string {
  const paintOf = { " ": (text: string) => text, "-": paint.red, "+": paint.green };
  const lines = hunks.flatMap((hunk) => [
    paint.cyan(headOf(hunk)),
    ...hunk.lines.map(({ sign, text }) => paintOf[sign](`${sign}${text}`)),
  ]);
  return [paint.bold(`--- ${titleOf(name, from)}`), paint.bold(`+++ ${titleOf(name, to)}`), ...lines]
    .map((line) => `${line}\n`)
    .join("");
}

export const diffCommand: CommandSpec = {
  description:
    "Shows what changed between two states of a record. Without a revision the newest is compared with the one " +
    "before it, with one that is compared with the newest. With --json both states come whole.",
  arguments: [
    new Argument("<name>", "The record's name"),
    new Argument("[from]", "A revision that memoryd memory log shows"),
    new Argument("[to]", "Another one"),
  ],
  settings: callSettings,
  examples: [
    ["memoryd memory diff cache-key", "What did the last write change?"],
    ["memoryd memory diff cache-key 12", "What has changed since revision 12?"],
    ["memoryd memory diff cache-key 12 31", "What changed between the two?"],
  ],
  run: async (invocation) => {
    const { output, isJson } = invocation;
    const [argument, ...revisions] = invocation.arguments;
    const name = nameFrom(argument);
    const wanted = revisions.flatMap((text) => (text === undefined ? [] : [revisionFrom(text)]));
    const show = async (records: RecordsClient): Promise<void> => {
      const pair = await findPair(records, name, wanted);
      if (isJson) {
        await output.json({ from: jsonFromRevision(pair.from), to: jsonFromRevision(pair.to) });
        return;
      }
      const hunks = hunksOf(diffOfLines(linesOf(pair.from), linesOf(pair.to)));
      if (hunks.length > 0) await output.write(diffText(name, pair, hunks, output.paint));
      else output.note(`Revisions ${pair.from.revision} and ${pair.to.revision} say the same.`);
    };
    await withRecords(invocation, show, absentRecord(name));
    return undefined;
  },
};
