/** `memoryd workspace detach`: a folder in which refs are no longer looked up. */
import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { Argument, Option } from "commander";
import { findWorkspace } from "../../client/workspace.js";
import { rootIdFromPath, rootIdViolations } from "../../memory/roots.js";
import type { CommandSpec } from "../command.js";
import { withRecords } from "../memory/records.js";
import { callSettings } from "../options.js";

/** The real path of a folder that may be gone already. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // What is gone can only be meant by the path that it had.
    return path;
  }
}

export const workspaceDetachCommand: CommandSpec = {
  description:
    "Detaches a root from the workspace: refs are no longer looked up there. Records and baselines stay. The " +
    "right admin is needed.",
  arguments: [
    new Argument("[root]", "The root's id or its folder; this worktree, or this folder, when left out"),
  ],
  options: [new Option("--allow-missing", "Succeed when there is no such root")],
  settings: callSettings,
  examples: [
    ["memoryd workspace detach", "No longer look refs up in this worktree"],
    ["memoryd workspace detach 1d13988603d1", "Nor in one that is known by its id"],
  ],
  run: async (invocation) => {
    const { output, isJson, isSet, environment } = invocation;
    const [root] = invocation.arguments;
    const { workingDir } = environment;
    const own = findWorkspace(invocation.config(), workingDir).root ?? workingDir;
    const isId = root !== undefined && rootIdViolations("ROOT", root).length === 0;
    const path = root === undefined ? own : resolve(workingDir, root);
    const rootId = isId ? root : rootIdFromPath(realPathOf(path));
    await withRecords(invocation, async (records) => {
      await records.detachRoot({ rootId, allowMissing: isSet("allowMissing") });
      if (isJson) await output.json({});
      else await output.write(`Detached root ${rootId}.\n`);
    });
    return undefined;
  },
};
