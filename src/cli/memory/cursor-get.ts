/** `memoryd memory cursor get`: the cursor, verbatim for programs and made visible on a terminal (M90). */
import type { CommandSpec } from "../command.js";
import { callSettings } from "../options.js";
import { updateTimeMetadata, withMemory } from "./records.js";
import { cursorText } from "./view.js";

export const cursorGetCommand: CommandSpec = {
  description:
    "Prints the cursor of a workspace. A pipe gets it byte for byte; on a terminal, characters that would " +
    "drive it are shown as escapes. With --json its update time comes along.",
  settings: callSettings,
  examples: [
    ["memoryd memory cursor get", "Where did work stop?"],
    ["memoryd memory cursor get > cursor.txt", "Keep it in a file, byte for byte"],
  ],
  run: async (invocation) => {
    const { output, isJson } = invocation;
    await withMemory(invocation, async (memory) => {
      let updateTime: string | undefined;
      const onHeader = (header: Headers): void => {
        updateTime = header.get(updateTimeMetadata) ?? undefined;
      };
      const { content } = await memory.getCursor({}, { onHeader });
      if (isJson) await output.json({ content, ...(updateTime === undefined ? {} : { updateTime }) });
      else await output.write(output.isTerminal ? cursorText(content) : content);
      if (!isJson && updateTime === undefined) output.note("No cursor was written in this workspace yet.");
    });
    return undefined;
  },
};
