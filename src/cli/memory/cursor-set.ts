/** `memoryd memory cursor set`: replaces the cursor by a text, a file or what comes in on stdin, verbatim. */
import { Argument, Option } from "commander";
import { invalidArgument } from "../../kernel/errors.js";
import { byteLength } from "../../kernel/utf8.js";
import type { CommandSpec, Invocation } from "../command.js";
import { standardInput } from "../input.js";
import { callSettings } from "../options.js";
import { sizeText } from "../quantities.js";
import { ifUpdateTimeOption, preconditionOf, updateTimeMetadata, withMemory } from "./records.js";

/** The new text: exactly one of the argument, the file and stdin. */
async function contentFrom({ arguments: [argument], text, input }: Invocation): Promise<string> {
  const file = text("file");
  const refused = (description: string) => invalidArgument([{ field: "TEXT", description }]);
  if (argument !== undefined && file !== undefined)
    throw refused("and --file cannot both be given; leave one out");
  if (argument !== undefined) return argument;
  if (file === undefined && input.isTerminal) {
    throw refused("is missing; give it as the argument, with --file, or on stdin");
  }
  const content = await input.read(file ?? standardInput, "--file");
  if (content !== "") return content;
  // An empty stream is rather a program that failed than somebody who has no more use for the cursor.
  const source = file === undefined || file === standardInput ? "stdin is" : "the file is";
  throw refused(`is missing, since ${source} empty; give '' as the argument to empty the cursor`);
}

export const cursorSetCommand: CommandSpec = {
  description:
    "Replaces the cursor of a workspace by a text, a file, or what comes in on stdin. It is kept byte for " +
    "byte, up to 262144 bytes. An empty text is only taken as the argument ''.",
  arguments: [new Argument("[text]", "The new text")],
  options: [
    new Option("--file <file>", "Take the text from this file; - is stdin"),
    ifUpdateTimeOption("Replace only what was last written at this time, or nothing with absent"),
  ],
  settings: callSettings,
  examples: [
    ["memoryd memory cursor set 'next: wire the codec'", "Say where work stops"],
    ["git log -1 --format=%B | memoryd memory cursor set", "Take it from another program"],
    ["memoryd memory cursor set --if-update-time absent --file notes.md", "Only if there is none yet"],
  ],
  run: async (invocation) => {
    const { output, isJson } = invocation;
    const options = preconditionOf(invocation);
    const sent = await contentFrom(invocation);
    await withMemory(invocation, async (memory) => {
      let updateTime = "";
      const onHeader = (header: Headers): void => {
        updateTime = header.get(updateTimeMetadata) ?? "";
      };
      const { content } = await memory.updateCursor({ content: sent }, { ...options, onHeader });
      if (isJson) await output.json({ content, updateTime });
      else await output.write(`Wrote the cursor (${sizeText(byteLength(content))}) at ${updateTime}.\n`);
    });
    return undefined;
  },
};
