/**
 * What the README says about the sources, against the sources. Its examples are run by `test/examples.test.ts`.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { withTables } from "../scripts/readme-tables.js";

const inRepository = (name: string): string => fileURLToPath(new URL(`../${name}`, import.meta.url));
const readme = readFileSync(inRepository("README.md"), "utf8");

test("the derived tables are what the sources make; npm run generate writes them", () => {
  expect(withTables(readme)).toBe(readme);
});

describe("the map of the folders", () => {
  const map = readme.split("## Map of the folders")[1]?.split("\n## ")[0] ?? "";
  const named = [...map.matchAll(/`((?:[a-z.]+\/)+[a-z.]*|\.ci\/run)`/g)].map(([, path = ""]) => path);

  test("names nothing that is not there", () => {
    expect(named.length).toBeGreaterThan(10);
    // Names inside a row are relative to its folder.
    const places = ["", "test/"];
    expect(named.filter((path) => !places.some((place) => existsSync(inRepository(place + path))))).toEqual(
      [],
    );
  });

  test("names every folder of the sources", () => {
    const folders = readdirSync(inRepository("src"), { withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    );
    expect(folders.map(({ name }) => `src/${name}/`).filter((path) => !named.includes(path))).toEqual([]);
  });
});

test.each(["README.md", "CONTRIBUTING.md", "src/memory/README.md"])("links in %s lead somewhere", (page) => {
  const text = readFileSync(inRepository(page), "utf8");
  const targets = [...text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(([, target = ""]) => target);
  const folder = page.slice(0, page.lastIndexOf("/") + 1);
  const isLost = (target: string): boolean =>
    !/^https?:/.test(target) && !existsSync(inRepository(folder + target));
  expect(targets.filter(isLost)).toEqual([]);
});

describe("other platforms than POSIX (D11)", () => {
  test("get told what stands in for modes and sockets, and which platforms were tested", () => {
    const guards = readme.split("## Guards")[1]?.split("\n## ")[0] ?? "";
    for (const words of [/Windows/, /modes/, /sockets/, /Tested is Linux/]) expect(guards).toMatch(words);
  });

  test("miss no program, because memoryd starts none but itself", () => {
    const files = readdirSync(inRepository("src"), { recursive: true }).map((name) => `src/${name}`);
    const starters = files
      .filter((file) => file.endsWith(".ts"))
      .filter((file) => readFileSync(inRepository(file), "utf8").includes("child_process"));
    expect(starters).toEqual(["src/client/start.ts"]);
  });
});
