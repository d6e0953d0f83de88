/** The package's own name and version, read once from the `package.json` that these files belong to. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Walks up, because the sources and the built files lie at different depths below it. */
function readVersion(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const file = join(folder, "package.json");
    if (existsSync(file)) return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
    if (folder === dirname(folder)) throw new Error("memoryd's package.json is missing; install it again");
  }
}

export const memorydVersion: string = readVersion();
