/** Tables for people: columns without lines around them, so that they can be copied and cut. */
import Table from "cli-table3";

const gap = 2;
const noLines = Object.fromEntries(
  [
    ...["top", "top-mid", "top-left", "top-right", "bottom", "bottom-mid", "bottom-left", "bottom-right"],
    ...["left", "left-mid", "mid", "mid-mid", "right", "right-mid", "middle"],
  ].map((place) => [place, ""]),
);

/**
 * The rows, a line each, every line with its break. A column of `widths` is that wide, so that tables which
 * are printed one after the other stand in line; the others are as wide as they need.
 */
export function tableText(
  rows: readonly (readonly string[])[],
  widths: readonly (number | undefined)[] = [],
): string {
  if (rows.length === 0) return "";
  const table = new Table({
    chars: noLines,
    style: { "padding-left": 0, "padding-right": gap, head: [], border: [], compact: true },
    colWidths: widths.map((width) => (width === undefined ? null : width + gap)),
  });
  for (const row of rows) table.push([...row]);
  const lines = table.toString().split("\n");
  return lines.map((line) => `${line.trimEnd()}\n`).join("");
}
