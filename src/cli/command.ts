/**
 * What a command is, and how one becomes part of the parser: every command gets `--json`, its share of the
 * options table, examples in its help, and errors that know which command they are about.
 */
import { type Argument, type Command, type CommanderError, Option } from "commander";
import { distance } from "fastest-levenshtein";
import type { Environment } from "../config/env.js";
import { type Config, loadConfig, loadConfigToFind } from "../config/load.js";
import { invalidArgument, MemorydError } from "../kernel/errors.js";
import { reportWarning } from "./failure.js";
import type { Input } from "./input.js";
import { collect, type Setting } from "./options.js";
import type { Output } from "./output.js";
import { visibleLine } from "./visible.js";

/** What a command is given to work with. */
export type Invocation = {
  readonly output: Output;
  readonly input: Input;
  readonly environment: Environment;
  /** Whether the answer is for a program. */
  readonly isJson: boolean;
  /** The arguments in their order, those of a repeated one singly; one that was left out is `undefined`. */
  readonly arguments: readonly (string | undefined)[];
  /** The command's own option with a value; `undefined` when it was not given. */
  readonly text: (name: string) => string | undefined;
  /** The command's own option that can be repeated. */
  readonly texts: (name: string) => readonly string[] | undefined;
  /** Whether the command's own option without a value was given. */
  readonly isSet: (name: string) => boolean;
  /** The options of the table that were given as flags, by key. */
  readonly flags: Readonly<Record<string, unknown>>;
  /** The configuration with these flags; throws `invalid_argument` naming every fault. */
  readonly config: () => Config;
  /** The same for a command that only finds what is there: faults of anything else are warnings on stderr. */
  readonly configToFind: () => Config;
};

export type Example = readonly [command: string, what: string];

/** A command that does something. */
export type CommandSpec = {
  /** What the help opens with. */
  readonly description: string;
  readonly arguments?: readonly Argument[];
  readonly options?: readonly Option[];
  readonly settings: readonly Setting[];
  readonly examples: readonly Example[];
  /** Answers an exit code; nothing stands for success. */
  readonly run: (invocation: Invocation) => Promise<number | undefined>;
};

/** A command that others belong to. */
export type CommandGroup = {
  readonly description: string;
  readonly commands: readonly ListedCommand[];
  /** The command that is meant when none is named. */
  readonly defaultCommand?: string;
  readonly examples: readonly Example[];
};

/** A command in a list; the rest of it is loaded when it is named, so that the others stay quick. */
export type ListedCommand = {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<CommandSpec | CommandGroup>;
};

/** The parser stopped: it showed help or the version, or refused what was typed. */
export class ParserStop extends Error {
  override readonly name = "ParserStop";
  constructor(
    readonly command: Command,
    readonly outcome: CommanderError,
  ) {
    super(outcome.message);
  }
}

/** `memoryd memory ls`: the command as it is typed. */
export const commandPath = (command: Command): string =>
  command.parent === null ? command.name() : `${commandPath(command.parent)} ${command.name()}`;

/** A text that `--help` puts below the options. */
export function examplesText(examples: readonly Example[]): string {
  return ["", "Examples:", ...examples.flatMap(([command, what]) => [`  # ${what}`, `  $ ${command}`])].join(
    "\n",
  );
}

/** An option that can be given more than once. */
export const repeatable = (usage: string, help: string): Option =>
  new Option(usage, `${help}. Repeat it for more`).argParser(collect);

/** What the parser hands to a command, given how the process was started. */
export type Surroundings = Pick<Invocation, "output" | "input" | "environment">;

function invocationFrom(
  command: Command,
  values: readonly unknown[],
  settings: readonly Setting[],
  surroundings: Surroundings,
): Invocation {
  const given = (name: string): unknown =>
    command.getOptionValueSource(name) === "cli" ? command.getOptionValue(name) : undefined;
  const flags: Record<string, unknown> = {};
  for (const { key, option } of settings) flags[key] = given(option.attributeName());
  return {
    ...surroundings,
    arguments: values.flatMap((value: unknown) =>
      Array.isArray(value) ? value.map(String) : [typeof value === "string" ? value : undefined],
    ),
    isJson: given("json") === true,
    text: (name) => {
      const value = given(name);
      return typeof value === "string" ? value : undefined;
    },
    texts: (name) => {
      const value = given(name);
      return Array.isArray(value) ? value.map(String) : undefined;
    },
    isSet: (name) => given(name) !== undefined,
    flags,
    config: () => loadConfig({ flags, environment: surroundings.environment }),
    configToFind: () => {
      const { config, faults } = loadConfigToFind({ flags, environment: surroundings.environment });
      if (faults.length > 0)
        reportWarning(surroundings.output, invalidArgument(faults), given("json") === true);
      return config;
    },
  };
}

const isGroup = (spec: CommandSpec | CommandGroup): spec is CommandGroup => "commands" in spec;

export type ParserOptions = Surroundings & {
  /** The command line, by which it is known what to load. */
  readonly args: readonly string[];
  /** Told the exit code of the command that ran. */
  readonly onEnd: (exitCode: number | undefined) => void;
};

function addSpec(command: Command, spec: CommandSpec, options: ParserOptions): void {
  for (const argument of spec.arguments ?? []) command.addArgument(argument);
  for (const option of spec.options ?? []) command.addOption(option);
  for (const { option } of spec.settings) command.addOption(option);
  command.option("--json", "Answer with one JSON document on stdout, and errors as JSON on stderr");
  command.action(async (...handed: unknown[]) => {
    const values = handed.slice(0, command.registeredArguments.length);
    options.onEnd(await spec.run(invocationFrom(command, values, spec.settings, options)));
  });
}

const longestSuggestionDistance = 2;

/**
 * Throws for a word that stands where a command must, and is none. The parser itself shows the group's help
 * when `--help` follows, and hands the word to the group's default command when there is one.
 */
export function assertCommandsExist(program: Command, args: readonly string[]): void {
  let command = program;
  for (const word of args) {
    const { commands } = command;
    if (commands.length === 0 || word.startsWith("-") || word === "help") return;
    const next = commands.find((known) => known.name() === word);
    if (next === undefined) {
      const [near] = commands
        .map((known) => ({ name: known.name(), steps: distance(known.name(), word) }))
        .filter(({ steps }) => steps <= longestSuggestionDistance)
        .sort((one, other) => one.steps - other.steps);
      const meant = near === undefined ? "" : ` (did you mean ${near.name}?)`;
      throw new MemorydError(
        "invalid_argument",
        `Unknown command '${visibleLine(word)}'${meant}; ${commandPath(command)} --help shows what there is.`,
        { reason: "USAGE" },
      );
    }
    command = next;
  }
}

/** Adds the commands of a group to the parser, those that are named with all that belongs to them. */
export async function addCommands(
  parent: Command,
  group: CommandGroup,
  options: ParserOptions,
): Promise<void> {
  for (const { name, summary, load } of group.commands) {
    const isDefault = name === group.defaultCommand;
    const command = parent.command(name, { isDefault }).summary(summary);
    command.exitOverride((outcome) => {
      throw new ParserStop(command, outcome);
    });
    if (!isDefault && !options.args.includes(name)) continue;
    const spec = await load();
    command.description(spec.description).addHelpText("after", examplesText(spec.examples));
    if (isGroup(spec)) await addCommands(command, spec, options);
    else addSpec(command, spec, options);
  }
}
