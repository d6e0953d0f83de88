/** `memoryd memory export`: the records and the cursor as files in a folder, or as JSON lines on stdout. */
import { Argument, Option } from "commander";
import { invalidArgument, MemorydError } from "../../kernel/errors.js";
import { createFilesDigest, type RecordFile } from "../../memory/files-format.js";
import { type CommandSpec, type Invocation, repeatable } from "../command.js";
import { callSettings } from "../options.js";
import { jsonFor } from "../output.js";
import { createProgress } from "../progress.js";
import { visibleLine } from "../visible.js";
import { type ExportFolder, openExportFolder } from "./export-folder.js";
import { type RecordsClient, withRecords } from "./records.js";
import { countText } from "./view.js";

const absent = "One of these records is not here; memoryd memory ls lists those there are.";

/** Stands for stdout where a folder is named. */
const standardOutput = "-";

type Summary = {
  readonly recordCount: number;
  readonly digest: string;
  readonly position: string;
  readonly unreadable: readonly string[];
};

type Request = { readonly names: string[]; readonly skipCursor: boolean };

const incomplete = (): MemorydError =>
  new MemorydError("unavailable", "The export came in incomplete; run it again.", {
    reason: "EXPORT_INCOMPLETE",
  });

/** Hands out each file, and answers the summary that fits them all. */
async function receive(
  records: RecordsClient,
  request: Request,
  take: (file: RecordFile) => Promise<void>,
): Promise<Summary> {
  const digest = createFilesDigest();
  let summary: Summary | undefined;
  for await (const { part } of records.exportRecords(request)) {
    if (part.case === "summary") summary = part.value;
    if (part.case !== "file") continue;
    digest.add(part.value);
    await take(part.value);
  }
  if (summary === undefined || summary.digest !== digest.hex()) throw incomplete();
  const { recordCount, position, unreadable } = summary;
  return { recordCount, digest: summary.digest, position, unreadable };
}

function noteUnreadable({ output }: Invocation, unreadable: readonly string[]): void {
  if (unreadable.length === 0) return;
  output.note(
    `${countText(unreadable.length, "record")} cannot be read any longer and ${unreadable.length === 1 ? "was" : "were"} left out: ` +
      `${unreadable.map(visibleLine).join(", ")}.`,
  );
}

async function exportToFolder(folder: string, request: Request, invocation: Invocation): Promise<void> {
  const { output, isJson } = invocation;
  let target: ExportFolder | undefined;
  let [written, unchanged] = [0, 0];
  const progress = createProgress(output, () => `${countText(written + unchanged, "file")} so far …`);
  const take = async (file: RecordFile): Promise<void> => {
    target ??= openExportFolder(folder);
    if (target.write(file)) written += 1;
    else unchanged += 1;
    progress();
  };
  await withRecords(
    invocation,
    async (records) => {
      const summary = await receive(records, request, take);
      target ??= openExportFolder(folder);
      const others = request.names.length === 0 ? target.others() : [];
      if (isJson) {
        await output.json({ folder, ...summary, written, unchanged, others });
        return;
      }
      await output.write(
        `Exported ${countText(summary.recordCount, "record")} to ${visibleLine(folder)}: ${countText(written, "file")} written, ${unchanged} unchanged.\n`,
      );
      noteUnreadable(invocation, summary.unreadable);
      if (others.length > 0) {
        output.note(`Files of no record here, which were left alone: ${others.map(visibleLine).join(", ")}.`);
      }
    },
    absent,
  );
}

async function exportToOutput(request: Request, invocation: Invocation): Promise<void> {
  const { output } = invocation;
  const line = (value: unknown): Promise<void> => output.write(`${jsonFor(output.isTerminal, value)}\n`);
  const take = ({ path, content }: RecordFile): Promise<void> =>
    line({ path, content: new TextDecoder("utf-8", { ignoreBOM: true }).decode(content) });
  await withRecords(
    invocation,
    async (records) => {
      const summary = await receive(records, request, take);
      await line({ summary });
      noteUnreadable(invocation, summary.unreadable);
    },
    absent,
  );
}

export const exportCommand: CommandSpec = {
  description:
    "Writes the records and the cursor of a workspace as they are at one moment: records/NAME.md with front " +
    "matter, and cursor.md. Equal records give equal bytes, files that are the same already are not touched, " +
    "and none is deleted. With - it is JSON lines on stdout, a file each, the summary last.",
  arguments: [new Argument("<dir>", "The folder, made where it is not there; - is stdout")],
  options: [
    repeatable("--record <name>", "Only the record of this name"),
    new Option("--skip-cursor", "Leave the cursor out"),
  ],
  settings: callSettings,
  examples: [
    ["memoryd memory export notes", "Keep it all beside the code"],
    ["memoryd memory export - | jq -r 'select(.path).path'", "What there would be"],
    ["memoryd memory export shared --record cache-key --skip-cursor", "One record alone"],
  ],
  run: async (invocation) => {
    const { isSet, texts } = invocation;
    const [folder = ""] = invocation.arguments;
    if (folder === "") throw invalidArgument([{ field: "DIR", description: "must not be empty" }]);
    const request = { names: [...(texts("record") ?? [])], skipCursor: isSet("skipCursor") };
    if (folder === standardOutput) await exportToOutput(request, invocation);
    else await exportToFolder(folder, request, invocation);
    return undefined;
  },
};
