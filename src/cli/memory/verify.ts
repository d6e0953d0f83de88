/**
 * `memoryd memory verify`: what is wrong with the records of a workspace, grouped by record, with what to do
 * about each. Ends with 6 when an error is among it, so that a script or a hook can tell.
 */
import { Argument, Option } from "commander";
import { type IssueMessage, jsonFromIssue, type RecordMessage } from "../../client/record-json.js";
import { severities } from "../../memory/verify.js";
import type { CommandSpec, Invocation } from "../command.js";
import { exitCodes } from "../exit-codes.js";
import { callSettings } from "../options.js";
import type { Output, Paint } from "../output.js";
import { visibleLine } from "../visible.js";
import { nameFrom, type RecordsClient, withRecords } from "./records.js";
import { countText, refText } from "./view.js";

type Verified = {
  readonly issues: readonly IssueMessage[];
  readonly recordsChecked: number;
  readonly refsChecked: number;
};

type Wanted = {
  readonly names: readonly string[];
  readonly checkRefs: boolean;
  readonly minSeverity: number;
};

const absent = "One of these records is not there; memoryd memory ls lists those there are.";
const basicView = 1;
const namesInBatch = 100;

const severityNames = new Map<number, string>(
  Object.entries(severities).map(([name, value]) => [value, name]),
);
const severityText = (severity: number): string => severityNames.get(severity) ?? `severity ${severity}`;

/** Every page of issues. */
async function verifyAll(records: RecordsClient, wanted: Wanted): Promise<Verified> {
  const issues: IssueMessage[] = [];
  let [recordsChecked, refsChecked, pageToken] = [0, 0, ""];
  do {
    const page = await records.verifyRecords({ ...wanted, names: [...wanted.names], pageToken });
    issues.push(...page.issues);
    recordsChecked += page.recordsChecked;
    refsChecked += page.refsChecked;
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return { issues, recordsChecked, refsChecked };
}

/** The records whose refs are spoken of: an issue names a ref by its index alone. */
async function recordsOf(
  records: RecordsClient,
  issues: readonly IssueMessage[],
): Promise<ReadonlyMap<string, RecordMessage>> {
  const ofRefs = issues.filter(({ refIndex }) => refIndex !== undefined);
  const names = [...new Set(ofRefs.map(({ record }) => record))];
  const found = new Map<string, RecordMessage>();
  for (let start = 0; start < names.length; start += namesInBatch) {
    const batch = names.slice(start, start + namesInBatch);
    const answer = await records.batchGetRecords({ names: batch, view: basicView });
    for (const { memory } of answer.records) if (memory !== undefined) found.set(memory.name, memory);
  }
  return found;
}

const paintOf = (paint: Paint, severity: number): ((text: string) => string) => {
  if (severity === severities.error) return paint.red;
  return severity === severities.warning ? paint.yellow : paint.dim;
};

const indent = "  ";
const severityWidth = Math.max(...[...severityNames.values()].map((name) => name.length));

/** What an issue speaks of, beside its sentence: the other record, or the ref. */
function aboutText({ related, refIndex }: IssueMessage, record: RecordMessage | undefined): string {
  const ref = refIndex === undefined ? undefined : record?.refs[refIndex];
  if (ref !== undefined) return refText(ref);
  return visibleLine(related);
}

function issueText(issue: IssueMessage, record: RecordMessage | undefined, paint: Paint): string {
  const { severity, message, hint } = issue;
  const about = aboutText(issue, record);
  const said = about === "" ? message : `${message.replace(/\.$/, "")}: ${about}`;
  const label = paintOf(paint, severity)(severityText(severity).padEnd(severityWidth));
  const below = `${indent}${" ".repeat(severityWidth)}${indent}`;
  return `${indent}${label}${indent}${visibleLine(said)}\n${below}${paint.dim(visibleLine(hint))}\n`;
}

function sumText({ issues, recordsChecked, refsChecked }: Verified): string {
  const checked = `${countText(recordsChecked, "record")} and ${countText(refsChecked, "ref")}`;
  if (issues.length === 0) return `Nothing is wrong with ${checked}.\n`;
  const counts = Object.entries(severities)
    .reverse()
    .map(([name, severity]) => [name, issues.filter((issue) => issue.severity === severity).length] as const)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => (name === "info" ? `${count} to know` : countText(count, name)));
  return `${counts.join(", ")} in ${checked}.\n`;
}

async function print(verified: Verified, records: RecordsClient, output: Output): Promise<void> {
  const { issues } = verified;
  const byName = await recordsOf(records, issues);
  let last: string | undefined;
  for (const issue of issues) {
    if (issue.record !== last) {
      await output.write(
        `${last === undefined ? "" : "\n"}${output.paint.bold(visibleLine(issue.record))}\n`,
      );
    }
    last = issue.record;
    await output.write(issueText(issue, byName.get(issue.record), output.paint));
  }
  await output.write(`${last === undefined ? "" : "\n"}${sumText(verified)}`);
}

function wantedFrom({ arguments: names, text, isSet }: Invocation): Wanted {
  const least = text("minSeverity") as keyof typeof severities | undefined;
  return {
    names: names.flatMap((name) => (name === undefined ? [] : [nameFrom(name)])),
    // The parser keeps --no-refs under this name.
    checkRefs: !isSet("refs"),
    minSeverity: least === undefined ? 0 : severities[least],
  };
}

export const verifyCommand: CommandSpec = {
  description:
    "Goes through the records of a workspace for what is wrong: refs to files that are gone or changed since " +
    "the record was written, references to records that are not there, statuses that say stale, names that " +
    "are nearly alike. Files are looked up in this worktree; nothing is executed, and nothing is changed. Ends " +
    "with code 6 when there is an error.",
  arguments: [new Argument("[names...]", "Only these records, at most 100")],
  options: [
    new Option("--no-refs", "Do not look at files"),
    new Option("--min-severity <severity>", "The least that is shown").choices(Object.keys(severities)),
  ],
  settings: callSettings,
  examples: [
    ["memoryd memory verify", "What is no longer right?"],
    ["memoryd memory verify cache-key retry-budget", "With these two?"],
    ["memoryd memory verify --min-severity error --json", "Only what is broken, for a program"],
  ],
  run: async (invocation) => {
    const { output, isJson } = invocation;
    const wanted = wantedFrom(invocation);
    let hasError = false;
    const verify = async (records: RecordsClient): Promise<void> => {
      const verified = await verifyAll(records, wanted);
      const { issues, recordsChecked, refsChecked } = verified;
      hasError = issues.some(({ severity }) => severity === severities.error);
      if (isJson) await output.json({ issues: issues.map(jsonFromIssue), recordsChecked, refsChecked });
      else await print(verified, records, output);
      if (wanted.checkRefs && recordsChecked > 0 && refsChecked === 0) {
        output.note(
          "No ref was looked up, because the workspace has no root here; see memoryd workspace attach.",
        );
      }
    };
    await withRecords(invocation, verify, absent);
    return hasError ? exitCodes.failed_precondition : undefined;
  },
};
