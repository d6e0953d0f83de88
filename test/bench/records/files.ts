/** Export and import of a thousand records, beside reading them as a list and writing them one by one. */
import { join } from "node:path";
import type { RecordFile } from "../../../src/memory/files-format.js";
import type { FilesTimes, RecordsJob } from "../jobs.js";
import { say } from "../output.js";
import { fieldsOf, recordName } from "../workload.js";
import { assertEqual, callOf, openRecords, timed } from "./opened.js";

const records = 1_000;
/** As many as an import writes together. */
const writtenAtOnce = 50;

export async function measureFiles({ folder, rounds }: RecordsJob): Promise<FilesTimes> {
  say("export and import of 1,000 records");
  const { memory, files, close } = await openRecords(join(folder, "files.db"));

  const writeAll = async (workspace: string): Promise<void> => {
    for (let from = 0; from < records; from += writtenAtOnce)
      await Promise.all(
        Array.from({ length: writtenAtOnce }, (_, at) => {
          const record = { name: recordName(from + at), ...fieldsOf(from + at, "written") };
          return memory.updateMemory(callOf(workspace), { record, maskPaths: [], allowMissing: true });
        }),
      );
  };
  const exportAll = async (workspace: string): Promise<readonly RecordFile[]> => {
    const exported: RecordFile[] = [];
    for await (const part of files.exportRecords(callOf(workspace), { names: [], skipCursor: false }))
      if (part.kind === "file") exported.push(part.file);
      else assertEqual("records in the summary", part.summary.recordCount, records);
    return exported;
  };
  const importAll = async (workspace: string, imported: readonly RecordFile[]): Promise<void> => {
    const results = await files.importRecords(callOf(workspace), {
      files: imported,
      mode: 0,
      isDryRun: false,
    });
    assertEqual("files that became records", results.filter(({ outcome }) => outcome === 1).length, records);
  };
  const listAll = async (workspace: string): Promise<void> => {
    const page = await memory.listMemories(callOf(workspace), { pageSize: records, pageToken: "" });
    assertEqual("listed records", page.records.length, records);
  };

  const [writes, exports, imports, lists]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (let round = 0; round < rounds; round += 1) {
    const workspace = `round-${round}`;
    writes.push((await timed(() => writeAll(workspace))).ms);
    const exported = await timed(() => exportAll(workspace));
    exports.push(exported.ms);
    imports.push((await timed(() => importAll(`${workspace}-again`, exported.answer))).ms);
    lists.push((await timed(() => listAll(workspace))).ms);
  }
  await close();
  return {
    writeMs: Math.min(...writes),
    exportMs: Math.min(...exports),
    importMs: Math.min(...imports),
    listMs: Math.min(...lists),
  };
}
