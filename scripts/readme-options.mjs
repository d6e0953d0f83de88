/**
 * Writes the README's table of options from the options themselves (`npm run generate`); `test/readme.test.ts`
 * says when that was forgotten. Runs under tsx, because it reads the sources.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { readmeOptionsTable } from "../src/config/describe.ts";

const file = new URL("../README.md", import.meta.url);
const [start, end] = ["<!-- options -->", "<!-- /options -->"];
const text = readFileSync(file, "utf8");
const before = text.slice(0, text.indexOf(start) + start.length);
const after = text.slice(text.indexOf(end));
writeFileSync(file, `${before}\n${readmeOptionsTable()}\n${after}`);
