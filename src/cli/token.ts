/** `memoryd token …`: the operator's token, for programs that talk to the daemon over TCP. */
import { ensureOperatorToken } from "../config/token.js";
import type { CommandGroup, CommandSpec } from "./command.js";
import { instanceSettings } from "./options.js";

const showCommand: CommandSpec = {
  description:
    "Prints the token that lets a program do everything with the daemon of this user. It is made when there " +
    "is none yet. Over the unix socket no token is needed.",
  settings: instanceSettings,
  examples: [
    [
      "curl -H \"authorization: Bearer $(memoryd token show)\" -H 'content-type: application/json' -d '{}' http://127.0.0.1:7411/magus.memory.v1.MemoryService/ListMemories",
      "Call the daemon by hand",
    ],
    ["memoryd token show --json", "The token and the file that keeps it"],
  ],
  run: async ({ configToFind, output, isJson }) => {
    const file = configToFind().paths.tokenFile;
    const token = ensureOperatorToken(file);
    if (isJson) await output.json({ file, token });
    else await output.write(`${token}\n`);
    if (!isJson && output.isTerminal) output.note(output.errorPaint.dim(`kept in ${file}`));
    return undefined;
  },
};

export const tokenGroup: CommandGroup = {
  description: "The token that programs send to the daemon over TCP.",
  commands: [
    {
      name: "show",
      summary: "Print the operator's token, made when there is none yet",
      load: async () => showCommand,
    },
  ],
  examples: [["memoryd token show", "Print it"]],
};
