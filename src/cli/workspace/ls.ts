/** `memoryd workspace ls`: the workspaces that the token may read, in the order of their names. */
import { jsonFromWorkspace, type WorkspaceMessage } from "../../client/record-json.js";
import type { CommandSpec } from "../command.js";
import { type RecordsClient, withRecords } from "../memory/records.js";
import { timeText } from "../memory/view.js";
import { callSettings } from "../options.js";
import { tableText } from "../table.js";
import { visibleLine } from "../visible.js";

type Listed = { readonly workspaces: readonly WorkspaceMessage[]; readonly defaultWorkspace: string };

async function listAll(records: RecordsClient): Promise<Listed> {
  const workspaces: WorkspaceMessage[] = [];
  let defaultWorkspace = "";
  let pageToken = "";
  do {
    const page = await records.listWorkspaces({ pageSize: 1_000, pageToken });
    workspaces.push(...page.workspaces);
    ({ defaultWorkspace, nextPageToken: pageToken } = page);
  } while (pageToken !== "");
  return { workspaces, defaultWorkspace };
}

export const workspaceLsCommand: CommandSpec = {
  description:
    "Lists the workspaces with the number of their records and the time of their last write. The default one, " +
    "which calls mean that name none, is marked.",
  settings: callSettings,
  examples: [
    ["memoryd workspace ls", "What is there"],
    ["memoryd workspace ls --json | jq -r '.workspaces[].workspace'", "The names alone"],
  ],
  run: async (invocation) => {
    const { output, isJson } = invocation;
    await withRecords(invocation, async (records) => {
      const { workspaces, defaultWorkspace } = await listAll(records);
      if (isJson) {
        await output.json({ workspaces: workspaces.map(jsonFromWorkspace), defaultWorkspace });
        return;
      }
      if (workspaces.length === 0) {
        output.note("There are no workspaces yet; the first write makes one.");
        return;
      }
      const head = ["WORKSPACE", "RECORDS", "UPDATED", ""].map(output.paint.bold);
      const rows = workspaces.map(({ workspace, recordCount, updateTime }) => [
        visibleLine(workspace),
        String(recordCount),
        timeText(updateTime),
        workspace === defaultWorkspace ? "default" : "",
      ]);
      await output.write(tableText([head, ...rows]));
    });
    return undefined;
  },
};
