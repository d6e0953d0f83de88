/**
 * What an option is, and what people are told about one: its legal values, its default, its usage. The
 * options themselves are in `options.ts`.
 */
import type { Format } from "./formats.js";

/** Who reads the option: the daemon, the programs that talk to it, or both. */
export type Scope = "daemon" | "client" | "both";

type Common = {
  readonly key: string;
  /** As typed on a command line; `undefined` for what must not be seen in a process list. */
  readonly flag: string | undefined;
  /** What follows the flag in the help. */
  readonly placeholder?: string;
  readonly env: string;
  readonly unit?: string;
  /** What the option does and when to touch it, for somebody who reads it for the first time. */
  readonly help: string;
  /** Printed as *** everywhere. */
  readonly secret?: true;
  readonly scope: Scope;
  /** `config.json` may not set it. */
  readonly notInFile?: true;
};

export type BooleanOption = Common & { readonly type: "boolean"; readonly default: boolean };
export type NumberOption = Common & {
  readonly type: "number";
  readonly default: number;
  readonly min: number;
  readonly max: number;
};
export type ChoiceOption = Common & {
  readonly type: "choice";
  readonly default: string;
  readonly choices: readonly string[];
};
export type TextOption = Common & {
  readonly type: "text";
  readonly default: string | undefined;
  /** Shown where the default is not one text: it depends on the system, or is nothing. */
  readonly defaultNote?: string;
  readonly format: Format;
};
export type ListOption = Common & {
  readonly type: "list";
  readonly default: readonly string[];
  readonly format: Format;
};
export type Option = BooleanOption | NumberOption | ChoiceOption | TextOption | ListOption;

/** What is legal, said so that it completes "must be …". */
export function legalValuesOf(option: Option): string {
  if (option.type === "boolean") return "true or false";
  if (option.type === "number") return `a whole number of ${option.unit} from ${option.min} to ${option.max}`;
  if (option.type === "choice") return `one of ${option.choices.join(", ")}`;
  if (option.type === "text") return option.format.legal;
  return `${option.format.legal} (a list in the file, separated by commas in the variable)`;
}

/** The default as people read it. */
export function defaultTextOf(option: Option): string {
  if (option.type === "text") return option.default ?? option.defaultNote ?? "none";
  if (option.type === "list") return option.default.length === 0 ? "none" : option.default.join(", ");
  return String(option.default);
}

/** The flag with its value, as a command line parser and the help want it: `--listen <host:port>`. */
export function flagUsageOf(option: Option): string | undefined {
  if (option.flag === undefined || option.type === "boolean") return option.flag;
  return `${option.flag} <${option.placeholder ?? "value"}>`;
}
