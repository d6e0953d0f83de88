/**
 * The options of the one table (`config/options.ts`) as the command line parser wants them. No flag, default
 * or help text is written here a second time; whether a value is legal is asked by `config/load.ts`.
 */
import { Option as ParsedOption } from "commander";
import { defaultTextOf, flagUsageOf, type Option } from "../config/option.js";
import { type OptionKey, optionsOf } from "../config/options.js";

/** An option of the table that a command takes. */
export type Setting = { readonly key: string; readonly option: ParsedOption };

/** Collects the values of an option that is given more than once. */
export const collect = (value: string, before: unknown): readonly string[] =>
  Array.isArray(before) ? [...before, value] : [value];

function settingFrom(option: Option): Setting | undefined {
  const usage = flagUsageOf(option);
  if (usage === undefined) return undefined;
  const parsed = new ParsedOption(
    usage,
    `${option.help} (default: ${defaultTextOf(option)}; variable: ${option.env})`,
  );
  return { key: option.key, option: option.type === "list" ? parsed.argParser(collect) : parsed };
}

/** Those of the options of `scope` that can be flags, or of these only the ones with `keys`. */
export function settingsOf(scope: "daemon" | "client", keys?: readonly OptionKey[]): readonly Setting[] {
  const isWanted = (option: Option): boolean => keys === undefined || keys.some((key) => key === option.key);
  return optionsOf(scope)
    .filter(isWanted)
    .flatMap((option) => settingFrom(option) ?? []);
}

/** What finds a daemon that may run already. */
export const daemonSettings = settingsOf("client", ["data_dir", "client.url", "client.token_file"]);

/** What finds or starts a daemon, and the workspace to work in. */
export const callSettings = settingsOf("client");

/** What names an instance on this machine. */
export const instanceSettings = settingsOf("daemon", ["data_dir"]);
