/** The table of options: everything that derives from it holds for every row. */
import { describe, expect, test } from "vitest";
import { describeConfig, readmeOptionsTable } from "../../src/config/describe.js";
import { loadConfig } from "../../src/config/load.js";
import { defaultTextOf, flagUsageOf, legalValuesOf, type Option } from "../../src/config/option.js";
import { options, optionsOf } from "../../src/config/options.js";
import { linux } from "./environment.js";

const all: readonly Option[] = options;
const unique = (values: readonly unknown[]): boolean => new Set(values).size === values.length;

describe("every option", () => {
  test.each(all)("$key has the variable that its key says", ({ key, env, scope }) => {
    const words = scope === "client" ? key.replace(/^client\./, "") : key;
    expect(env).toBe(`MEMORYD_${words.toUpperCase().replaceAll(".", "_")}`);
  });

  test.each(all)("$key is explained in a sentence that needs no table beside it", (option) => {
    expect(option.help.length).toBeGreaterThan(15);
    expect(option.help).toMatch(/^[A-Z].*[^.]$/);
    expect(legalValuesOf(option)).not.toBe("");
    expect(defaultTextOf(option)).not.toBe("");
  });

  test.each(all)("$key can be told on a command line, unless it is a token", (option) => {
    if (option.key === "client.token") expect(option.flag).toBeUndefined();
    else expect(flagUsageOf(option)).toMatch(/^--[a-z][a-z-]*(?: <[a-z:]+>)?$/);
    if (option.type === "boolean") expect(option.flag?.startsWith("--no-")).toBe(option.default);
  });

  test("has a key, a flag and a variable of its own", () => {
    const flags = all.map(({ flag }) => flag).filter((flag) => flag !== undefined);
    expect([unique(all.map(({ key }) => key)), unique(flags), unique(all.map(({ env }) => env))]).toEqual([
      true,
      true,
      true,
    ]);
  });

  test("is in the README's table and in the description of a configuration", () => {
    const rows = readmeOptionsTable().split("\n");
    expect(rows).toHaveLength(all.length + 2);
    for (const { env } of all) expect(rows.filter((row) => row.includes(`\`${env}\``))).toHaveLength(1);
    const described = describeConfig(loadConfig({ flags: { data_dir: "/nowhere" }, environment: linux() }));
    expect(described.map(({ key }) => key)).toEqual(all.map(({ key }) => key));
  });
});

test("the daemon and its clients each read their own options and the folder", () => {
  const keys = (scope: "daemon" | "client") => optionsOf(scope).map(({ key }) => key);
  expect(keys("client")).toContain("data_dir");
  expect(keys("daemon")).toContain("data_dir");
  expect(keys("daemon")).not.toContain("client.url");
  expect(keys("client")).not.toContain("listen.address");
});
