/** `memoryd memory import`: reads records and the cursor from files, and says what became of each. */
import { Argument, Option } from "commander";
import type { RecordFile } from "../../memory/files-format.js";
import { importModes, importOutcomes } from "../../memory/files-import.js";
import type { CommandSpec, Invocation } from "../command.js";
import { exitCodes, success } from "../exit-codes.js";
import { callSettings } from "../options.js";
import { createProgress } from "../progress.js";
import { tableText } from "../table.js";
import { visibleLine } from "../visible.js";
import { type Candidate, candidatesFrom } from "./import-files.js";
import { type RecordsClient, withRecords } from "./records.js";
import { countText } from "./view.js";

const modesByWord: Readonly<Record<string, number>> = {
  "skip-existing": importModes.skipExisting,
  "keep-newer": importModes.keepNewer,
  replace: importModes.replace,
};

type Outcome = keyof typeof importOutcomes;
type Result = {
  readonly file: string;
  readonly name: string;
  readonly outcome: Outcome;
  readonly reason: string;
  readonly message: string;
};

/** So much goes in one call: as JSON, files grow by a third, and a request ends at 4 MiB. */
const maxCallFiles = 500;
const maxCallBytes = 2 * 1024 * 1024;

const outcomeFrom = (number: number): Outcome =>
  (Object.keys(importOutcomes) as Outcome[]).find((word) => importOutcomes[word] === number) ?? "refused";

type Send = (files: RecordFile[]) => ReturnType<RecordsClient["importRecords"]>;

/** Reads and sends the files part by part; answers in their order. */
async function importAll(
  candidates: readonly Candidate[],
  send: Send,
  onPart: (results: readonly Result[]) => void,
): Promise<Result[]> {
  const results: Result[] = [];
  let [waiting, bytes]: [{ at: number; file: string; sent: RecordFile }[], number] = [[], 0];
  const flush = async (): Promise<void> => {
    if (waiting.length === 0) return;
    const part = waiting;
    [waiting, bytes] = [[], 0];
    const answer = await send(part.map(({ sent }) => sent));
    for (const [index, { name, outcome, reason, message }] of answer.results.entries()) {
      const { at = 0, file = "" } = part[index] ?? {};
      results[at] = { file, name, outcome: outcomeFrom(outcome), reason, message };
    }
    onPart(results);
  };
  for (const [at, { shown, read }] of candidates.entries()) {
    const file = read();
    if ("reason" in file) {
      results[at] = { file: shown, name: "", outcome: "refused", ...file };
      continue;
    }
    if (waiting.length >= maxCallFiles || bytes + file.content.length > maxCallBytes) await flush();
    waiting.push({ at, file: shown, sent: file });
    bytes += file.content.length;
  }
  await flush();
  return results;
}

const countsOf = (results: readonly Result[]): Record<Outcome, number> => {
  const counts = { created: 0, replaced: 0, unchanged: 0, skipped: 0, refused: 0 };
  for (const { outcome } of results) counts[outcome] += 1;
  return counts;
};

/** What a person has to look at, a line each, and then the counts. */
async function print(results: readonly Result[], isDryRun: boolean, { output }: Invocation): Promise<void> {
  const rows = results
    .filter(({ outcome }) => outcome === "skipped" || outcome === "refused")
    .map(({ file, outcome, reason, message }) => [outcome, visibleLine(file), reason, visibleLine(message)]);
  if (rows.length > 0) await output.write(tableText(rows));
  const counts = Object.entries(countsOf(results)).map(([outcome, count]) => `${count} ${outcome}`);
  const what = isDryRun ? "Nothing was written; it would be" : "Imported";
  await output.write(`${what} ${countText(results.length, "file")}: ${counts.join(", ")}.\n`);
}

export const importCommand: CommandSpec = {
  description:
    "Reads records and the cursor from files as memoryd memory export writes them, or an earlier tool did: of " +
    "a folder *.md and records/*.md. Each file counts for itself, keeps its times, and is never changed. A " +
    "file that is no record is refused and left for you, and the command then ends with code 2.",
  arguments: [new Argument("<path...>", "A folder, or files")],
  options: [
    new Option("--mode <mode>", "What happens to a record that is there already and differs")
      .choices(Object.keys(modesByWord))
      .default("skip-existing"),
    new Option("--dry-run", "Say what would become of each file, and write nothing"),
  ],
  settings: callSettings,
  examples: [
    ["memoryd memory import notes", "All of a folder; what is there already stays"],
    ["memoryd memory import notes --mode keep-newer --dry-run", "What newer files would replace"],
    ["memoryd memory import a.md b.md", "Two records"],
  ],
  run: async (invocation) => {
    const { output, isJson, isSet, text } = invocation;
    const paths = invocation.arguments.filter((path) => path !== undefined);
    const candidates = candidatesFrom(paths);
    const mode = modesByWord[text("mode") ?? ""] ?? importModes.skipExisting;
    const dryRun = isSet("dryRun");
    let results: readonly Result[] = [];
    await withRecords(invocation, async (records) => {
      const send: Send = (files) => records.importRecords({ files, mode, dryRun });
      let done = 0;
      const progress = createProgress(output, () => `${done} of ${countText(candidates.length, "file")} …`);
      results = await importAll(candidates, send, (part) => {
        done = part.length;
        progress();
      });
    });
    if (isJson) await output.json({ dryRun, ...countsOf(results), results });
    else await print(results, dryRun, invocation);
    return results.some(({ outcome }) => outcome === "refused") ? exitCodes.invalid_argument : success;
  },
};
