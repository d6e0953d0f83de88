/** `memoryd workspace …`: the commands on workspaces themselves. */
import type { CommandGroup } from "../command.js";

export const workspaceGroup: CommandGroup = {
  description:
    "Workspaces keep the records and cursors of projects apart. One exists from its first write on; commands " +
    "choose theirs with --workspace or MEMORYD_WORKSPACE.",
  commands: [
    {
      name: "ls",
      summary: "List the workspaces",
      load: async () => (await import("./ls.js")).workspaceLsCommand,
    },
    {
      name: "attach",
      summary: "Look the workspace's refs up in a folder",
      load: async () => (await import("./attach.js")).workspaceAttachCommand,
    },
    {
      name: "detach",
      summary: "No longer look refs up in a folder",
      load: async () => (await import("./detach.js")).workspaceDetachCommand,
    },
  ],
  examples: [["memoryd workspace ls", "What is there, and how much in each"]],
};
