/** Tables and numbers as text: markdown that also reads well in a terminal. */

export type Table = { readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] };

export type Section = {
  readonly title: string;
  /** Lines before the table. */
  readonly notes: readonly string[];
  readonly table?: Table;
};

/** Columns of numbers are set to the right. */
const isNumeric = (cell: string): boolean => /^[\d–]/.test(cell);

export function markdownFrom({ head, rows }: Table): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const isRight = head.map((_, column) => rows.every((row) => isNumeric(row[column] ?? "")));
  const line = (cells: readonly string[]): string =>
    `| ${widths
      .map((width, column) => {
        const cell = cells[column] ?? "";
        return isRight[column] ? cell.padStart(width) : cell.padEnd(width);
      })
      .join(" | ")} |`;
  const rule = widths.map((width, column) =>
    isRight[column] ? `${"-".repeat(width - 1)}:` : "-".repeat(width),
  );
  return [line(head), line(rule), ...rows.map(line)].join("\n");
}

export function textFrom({ title, notes, table }: Section): string {
  const blocks = [`### ${title}`];
  if (notes.length > 0) blocks.push(notes.map((note) => `- ${note}`).join("\n"));
  if (table !== undefined) blocks.push(markdownFrom(table));
  return `${blocks.join("\n\n")}\n`;
}

/** Three digits that count, two below one, with a separator for thousands. */
export function figure(value: number): string {
  if (value >= 1_000) return Number(value.toPrecision(3)).toLocaleString("en-US");
  if (value >= 100) return value.toFixed(0);
  if (value >= 10) return value.toFixed(1);
  return value >= 1 ? value.toFixed(2) : String(Number(value.toPrecision(2)));
}

export const percent = (share: number | undefined): string =>
  share === undefined ? "–" : `${Math.round(share * 100)} %`;

export const times = (ratio: number): string => `${figure(ratio)} x`;

export const mebibytes = (bytes: number | undefined): string =>
  bytes === undefined ? "–" : `${(bytes / 2 ** 20).toFixed(0)} MiB`;
