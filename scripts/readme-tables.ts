/**
 * Writes the README's tables that derive from the sources (`npm run generate`); `test/readme.test.ts` says when
 * that was forgotten. Runs under tsx.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { exitMeanings } from "../src/cli/exit-codes.js";
import { readmeOptionsTable } from "../src/config/describe.js";

const exitCodesTable = (): string =>
  ["| code | meaning |", "| --- | --- |"]
    .concat(Object.entries(exitMeanings).map(([code, meaning]) => `| ${code} | ${meaning} |`))
    .join("\n");

/** The page with each table between its markers, `<!-- name -->` and `<!-- /name -->`. */
export function withTables(page: string): string {
  const tables = { options: readmeOptionsTable(), "exit-codes": exitCodesTable() };
  return Object.entries(tables).reduce((text, [name, table]) => {
    const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
    return `${text.slice(0, text.indexOf(start) + start.length)}\n${table}\n${text.slice(text.indexOf(end))}`;
  }, page);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = new URL("../README.md", import.meta.url);
  writeFileSync(file, withTables(readFileSync(file, "utf8")));
}
