/** Every command of memoryd, and what `memoryd --help` says besides their list. */
import { Command } from "commander";
import { memorydVersion } from "../config/version.js";
import { addCommands, type CommandGroup, examplesText, type ParserOptions, ParserStop } from "./command.js";
import { exitMeanings } from "./exit-codes.js";

const root: CommandGroup = {
  description:
    "The memory daemon of coding agents: records that point at things, and a cursor that says where work " +
    "stopped, kept by one local process and found again tomorrow. The memory commands start the daemon when " +
    "none runs; every command takes --json.",
  commands: [
    {
      name: "serve",
      summary: "Run the daemon in the foreground",
      load: async () => (await import("./serve.js")).serveCommand,
    },
    {
      name: "status",
      summary: "Show the running daemon: address, version, sizes and counts",
      load: async () => (await import("./status.js")).statusCommand,
    },
    {
      name: "stop",
      summary: "Stop the running daemon and wait until it is gone",
      load: async () => (await import("./stop.js")).stopCommand,
    },
    {
      name: "doctor",
      summary: "Check every part, and say what to do about each fault",
      load: async () => (await import("./doctor/command.js")).doctorCommand,
    },
    {
      name: "backup",
      summary: "Write a checked copy of the database, also while the daemon serves",
      load: async () => (await import("./backup.js")).backupCommand,
    },
    {
      name: "restore",
      summary: "Put a copy back while no daemon runs",
      load: async () => (await import("./restore.js")).restoreCommand,
    },
    {
      name: "token",
      summary: "The token that programs send to the daemon",
      load: async () => (await import("./token.js")).tokenGroup,
    },
    {
      name: "memory",
      summary: "Read and write records, and the cursor",
      load: async () => (await import("./memory/group.js")).memoryGroup,
    },
    {
      name: "workspace",
      summary: "The workspaces that records and cursors belong to",
      load: async () => (await import("./workspace/group.js")).workspaceGroup,
    },
  ],
  examples: [
    ["memoryd serve", "Run the daemon here, and see its address and a first call"],
    [
      "memoryd memory put cache-key --type decision --ref node:file:src/cache.ts --body 'Key by content hash.'",
      "Keep a decision, with the file that it is about",
    ],
    ["memoryd memory ls", "See what is kept"],
    ["memoryd memory cursor set 'next: wire the codec'", "Say where work stopped"],
    ["memoryd doctor", "Find out why something does not work, and what to do"],
  ],
};

const exitText = ["", "Exit codes:"]
  .concat(Object.entries(exitMeanings).map(([code, meaning]) => `  ${code}  ${meaning}`))
  .join("\n");

/** The parser of this command line. */
export async function createProgram(options: ParserOptions): Promise<Command> {
  const { output } = options;
  const program = new Command("memoryd");
  program.description(root.description).version(memorydVersion, "-V, --version", "Show the version");
  program
    .helpOption("-h, --help", "Show this help")
    .helpCommand("help [command]", "Show the help of a command");
  program.configureOutput({
    writeOut: (text) => void output.write(text).catch(() => {}),
    writeErr: (text) => output.note(text.trimEnd()),
    // The failure itself is reported in one place, as a sentence or as JSON.
    outputError: () => {},
    getOutHelpWidth: () => output.columns ?? defaultColumns,
    getErrHelpWidth: () => output.columns ?? defaultColumns,
    getOutHasColors: () => false,
    getErrHasColors: () => false,
  });
  program.exitOverride((outcome) => {
    throw new ParserStop(program, outcome);
  });
  program.addHelpText("after", `${examplesText(root.examples)}\n${exitText}`);
  await addCommands(program, root, options);
  return program;
}

const defaultColumns = 100;
