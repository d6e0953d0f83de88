/**
 * `memoryd status` (daemon.md D10): what the running daemon says of itself. Starts none. The lines are made of
 * whatever the daemon answers, so that a domain's new counts need nothing here.
 */
import type { CommandSpec } from "./command.js";
import { daemonSettings } from "./options.js";
import { durationText, sizeText } from "./quantities.js";
import { findRunning, notRunning, statusOf } from "./running.js";
import { tableText } from "./table.js";
import { visibleLine } from "./visible.js";

/** `startTime` and `start_time` as words. */
const wordsOf = (key: string): string =>
  key
    .replaceAll("_", " ")
    .replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => ` ${letter}`)
    .toLowerCase();

/** A number in the unit that its key ends with, as people read it, under the key without the unit. */
function quantityFrom(label: string, value: number): readonly [string, string] {
  if (label.endsWith(" bytes")) return [label.slice(0, -" bytes".length), sizeText(value)];
  if (label.endsWith(" seconds")) return [label.slice(0, -" seconds".length), durationText(value)];
  if (label.endsWith(" ms")) return [label.slice(0, -" ms".length), durationText(value / 1_000)];
  return [label, String(value)];
}

/** A line for every value, members of members named by both. */
export function statusRows(
  status: Readonly<Record<string, unknown>>,
  prefix = "",
): readonly (readonly [string, string])[] {
  return Object.entries(status).flatMap(([key, value]) => {
    const label = `${prefix}${wordsOf(key)}`;
    if (typeof value === "number") return [quantityFrom(label, value)];
    if (typeof value === "object" && value !== null) return statusRows({ ...value }, `${label} `);
    return [[label, visibleLine(String(value ?? "none"))] as const];
  });
}

export const statusCommand: CommandSpec = {
  description:
    "Shows what the running daemon says of itself. It starts none: without one it ends with code 9.",
  settings: daemonSettings,
  examples: [
    ["memoryd status", "Is it running, and where?"],
    ["memoryd status --json", "The same for a program"],
    ["memoryd status --url https://memory.example.org --token-file ~/.memoryd-token", "A daemon elsewhere"],
  ],
  run: async ({ configToFind, output, isJson }) => {
    using daemon = await findRunning(configToFind());
    if (daemon === undefined) throw notRunning();
    const status = await statusOf(daemon);
    if (isJson) await output.json(status);
    else
      await output.write(
        tableText(statusRows(status).map(([label, value]) => [output.paint.dim(label), value])),
      );
    return undefined;
  },
};
