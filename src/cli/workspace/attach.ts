/** `memoryd workspace attach`: says where a workspace is checked out, so that refs are looked up there. */
import { resolve } from "node:path";
import { Argument } from "commander";
import { findWorkspace } from "../../client/workspace.js";
import type { CommandSpec } from "../command.js";
import { withRecords } from "../memory/records.js";
import { callSettings } from "../options.js";
import { visibleLine } from "../visible.js";

export const workspaceAttachCommand: CommandSpec = {
  description:
    "Attaches a folder to the workspace as one of its roots, in which the refs of its records are looked up. " +
    "Writing a record does so by itself for the worktree that it is written from; by hand it is for a " +
    "workspace that is named with --workspace, or another folder. The right admin is needed.",
  arguments: [new Argument("[folder]", "The folder; that of this worktree, or this one, when left out")],
  settings: callSettings,
  examples: [
    ["memoryd workspace attach", "Look refs up in this worktree"],
    ["memoryd workspace attach --workspace widget ~/src/widget", "In a folder of a named workspace"],
  ],
  run: async (invocation) => {
    const { output, isJson, environment } = invocation;
    const [folder] = invocation.arguments;
    const { workingDir } = environment;
    const own = findWorkspace(invocation.config(), workingDir).root ?? workingDir;
    const path = folder === undefined ? own : resolve(workingDir, folder);
    await withRecords(invocation, async (records) => {
      const { rootId } = await records.attachRoot({ path });
      if (isJson) await output.json({ rootId });
      else await output.write(`Attached ${visibleLine(path)} as root ${rootId}.\n`);
    });
    return undefined;
  },
};
