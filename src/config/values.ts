/**
 * One option's value from what was written: flags and variables are text, the file has JSON's types, and
 * programs may pass the option's own type where a flag would stand. Pure.
 */
import type { Environment } from "./env.js";
import type { Source } from "./formats.js";
import { type ListOption, legalValuesOf, type Option, type TextOption } from "./option.js";

/** A value, or what is legal instead, said so that it completes "must be …". */
export type Result = { readonly value: unknown } | { readonly fault: string };

const booleans: ReadonlyMap<unknown, boolean> = new Map([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
]);

function booleanFrom(written: unknown, source: Source): boolean | undefined {
  if (typeof written === "boolean") return written;
  return source === "file" ? undefined : booleans.get(written);
}

function numberFrom(written: unknown, source: Source): number | undefined {
  if (typeof written === "number") return Number.isSafeInteger(written) ? written : undefined;
  const isDigits =
    source !== "file" && typeof written === "string" && /^(?:0|[1-9][0-9]{0,14})$/.test(written);
  return isDigits ? Number(written) : undefined;
}

/** Texts of a list, each once; `undefined` when any of them is not legal. */
function listFrom(
  option: ListOption,
  written: unknown,
  source: Source,
  environment: Environment,
): readonly string[] | undefined {
  const isText = typeof written === "string" && source !== "file";
  const items = isText ? written.split(",").map((item) => item.trim()) : written;
  if (!Array.isArray(items)) return undefined;
  const values = items.map((item: unknown) => textFrom(option, item, source, environment));
  return values.every((value) => value !== undefined) ? [...new Set(values)] : undefined;
}

const textFrom = (
  option: TextOption | ListOption,
  written: unknown,
  source: Source,
  environment: Environment,
): string | undefined =>
  typeof written === "string" ? option.format.read(written, source, environment) : undefined;

function read(option: Option, written: unknown, source: Source, environment: Environment): unknown {
  switch (option.type) {
    case "boolean":
      return booleanFrom(written, source);
    case "number": {
      const value = numberFrom(written, source);
      return value !== undefined && value >= option.min && value <= option.max ? value : undefined;
    }
    case "choice":
      return option.choices.find((choice) => choice === written);
    case "text":
      return textFrom(option, written, source, environment);
    case "list":
      return listFrom(option, written, source, environment);
  }
}

export function valueFrom(
  option: Option,
  written: unknown,
  source: Source,
  environment: Environment,
): Result {
  const value = read(option, written, source, environment);
  return value === undefined ? { fault: legalValuesOf(option) } : { value };
}
