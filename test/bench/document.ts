/** The tables in docs/performance.md, between two marks; the words around them are written by hand. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./processes.js";

const file = join(root, "docs", "performance.md");
const begin = "<!-- tables: written by npm run bench -- --write -->";
const end = "<!-- end of tables -->";

export function writeTables(text: string): void {
  const document = readFileSync(file, "utf8");
  const from = document.indexOf(begin);
  const to = document.indexOf(end);
  if (from < 0 || to < from) throw new Error(`docs/performance.md has lost the marks ${begin} and ${end}`);
  const tables = `${begin}\n\n${text.trim()}\n\n`;
  writeFileSync(file, `${document.slice(0, from)}${tables}${document.slice(to)}`);
}
