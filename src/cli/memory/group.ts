/** `memoryd memory …`: the commands on records and the cursor. */
import type { CommandGroup } from "../command.js";

const cursorGroup: CommandGroup = {
  description:
    "Reads and writes the cursor of a workspace: one free text that says where work stopped. Without a " +
    "command it is read.",
  defaultCommand: "get",
  commands: [
    {
      name: "get",
      summary: "Print the cursor",
      load: async () => (await import("./cursor-get.js")).cursorGetCommand,
    },
    {
      name: "set",
      summary: "Replace the cursor",
      load: async () => (await import("./cursor-set.js")).cursorSetCommand,
    },
  ],
  examples: [
    ["memoryd memory cursor", "Where did work stop?"],
    ["memoryd memory cursor set 'next: wire the codec'", "Say where it stops now"],
  ],
};

export const memoryGroup: CommandGroup = {
  description:
    "Reads and writes records, small typed notes that point at things, and the cursor that says where work " +
    "stopped. All of it belongs to a workspace (--workspace, MEMORYD_WORKSPACE). A daemon is started when " +
    "none runs; with --url these commands talk to another one.",
  commands: [
    {
      name: "ls",
      summary: "List the records of a workspace",
      load: async () => (await import("./ls.js")).lsCommand,
    },
    { name: "get", summary: "Show one record", load: async () => (await import("./get.js")).getCommand },
    {
      name: "put",
      summary: "Write a record, from options, a file or stdin",
      load: async () => (await import("./put.js")).putCommand,
    },
    {
      name: "delete",
      summary: "Delete a record",
      load: async () => (await import("./delete.js")).deleteCommand,
    },
    {
      name: "search",
      summary: "Find records by words and filters",
      load: async () => (await import("./search.js")).searchCommand,
    },
    {
      name: "log",
      summary: "List the kept states of a record, or of the cursor",
      load: async () => (await import("./log.js")).logCommand,
    },
    {
      name: "diff",
      summary: "Show what changed between two states of a record",
      load: async () => (await import("./diff.js")).diffCommand,
    },
    {
      name: "restore",
      summary: "Bring an earlier state of a record back",
      load: async () => (await import("./restore.js")).restoreCommand,
    },
    {
      name: "redact",
      summary: "Empty the earlier states of a record, or of the cursor, for good",
      load: async () => (await import("./redact.js")).redactCommand,
    },
    {
      name: "export",
      summary: "Write the records and the cursor into a folder, a file each",
      load: async () => (await import("./export.js")).exportCommand,
    },
    {
      name: "import",
      summary: "Read records and the cursor from files",
      load: async () => (await import("./import.js")).importCommand,
    },
    {
      name: "watch",
      summary: "Print the changes of a workspace as they happen",
      load: async () => (await import("./watch.js")).watchCommand,
    },
    {
      name: "verify",
      summary: "Find out what is no longer right with the records",
      load: async () => (await import("./verify.js")).verifyCommand,
    },
    { name: "cursor", summary: "Read and write where work stopped", load: async () => cursorGroup },
  ],
  examples: [
    ["memoryd memory ls --workspace widget", "What is kept there"],
    ["memoryd memory put api --type pointer --ref doc:docs/api.md", "Keep a pointer to a document"],
  ],
};
