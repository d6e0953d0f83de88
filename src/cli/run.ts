/**
 * From arguments to an exit code: runs the parser and the command, and turns whatever goes wrong into one
 * sentence. The process itself is ended by `main.ts`.
 */
import type { CommanderError } from "commander";
import { type Environment, readEnvironment } from "../config/env.js";
import { assertCommandsExist, commandPath, ParserStop } from "./command.js";
import { exitCodes, success } from "./exit-codes.js";
import { reportFailure, usageError } from "./failure.js";
import { createInput, type Source } from "./input.js";
import { createOutput, ReaderGone, type Sink } from "./output.js";
import { createProgram } from "./program.js";

export type RunOptions = {
  readonly stdin?: Source;
  readonly stdout?: Sink;
  readonly stderr?: Sink;
  readonly environment?: Environment;
};

/** Whether errors are wanted as JSON, told before the parser can say so. */
function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return args.slice(0, end === -1 ? args.length : end).includes("--json");
}

/** `--json status` as `status --json`, since every command takes it. */
function withJsonLast(args: readonly string[]): readonly string[] {
  const [first, ...rest] = args;
  if (first !== "--json" || rest.length === 0) return args;
  const end = rest.indexOf("--");
  return end === -1 ? [...rest, first] : rest.toSpliced(end, 0, first);
}

/** `help memory put` as `memory put --help`; the parser's own `help` looks at the first word alone. */
const withHelpLast = (args: readonly string[]): readonly string[] =>
  args[0] === "help" ? [...args.slice(1), "--help"] : args;

const isHelpOrVersion = ({ exitCode }: CommanderError): boolean => exitCode === 0;

/** Help that nobody asked for, because a command was missing: it was printed already. */
const isHelpInstead = ({ code }: CommanderError): boolean => code === "commander.help";

/** Runs one command line, without the program's name in front; never rejects. */
export async function runCli(args: readonly string[], options: RunOptions = {}): Promise<number> {
  const output = createOutput(options.stdout, options.stderr);
  const input = createInput(options.stdin ?? process.stdin);
  const fail = (error: unknown): number => reportFailure(output, error, wantsJson(args));
  let exitCode: number = success;
  try {
    const environment = options.environment ?? readEnvironment();
    const onEnd = (code: number = success): void => {
      exitCode = code;
    };
    const typed = withHelpLast(withJsonLast(args));
    const program = await createProgram({ output, input, environment, args: typed, onEnd });
    assertCommandsExist(program, typed);
    await program.parseAsync(typed, { from: "user" });
  } catch (error) {
    if (error instanceof ReaderGone) exitCode = success;
    else if (!(error instanceof ParserStop)) exitCode = fail(error);
    else if (isHelpInstead(error.outcome)) exitCode = exitCodes.invalid_argument;
    else if (!isHelpOrVersion(error.outcome))
      exitCode = fail(usageError(error.outcome, commandPath(error.command)));
  }
  await output.flush();
  return exitCode;
}
