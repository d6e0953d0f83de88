/** Help that teaches: every command has a description, its options with default and variable, and examples that are legal. */
import { describe, expect, test } from "vitest";
import type { Option } from "../../src/config/option.js";
import { optionsOf } from "../../src/config/options.js";
import { memorydVersion } from "../../src/config/version.js";
import { memoryd } from "./command-line.js";

const commands = [
  "serve",
  "status",
  "stop",
  "doctor",
  "token",
  "token show",
  "memory",
  "memory ls",
  "memory get",
  "memory put",
  "memory delete",
  "memory watch",
  "memory cursor",
  "memory cursor get",
  "memory cursor set",
];
const groups = new Set(["token", "memory", "memory cursor"]);

const helpOf = async (command: string): Promise<string> =>
  (await memoryd([...command.split(" "), "--help"])).stdout;

/** The examples of a help text, each as its words; what a shell would do to them is left out. */
function examplesIn(help: string): readonly string[][] {
  const lines = help.split("\n").filter((line) => line.startsWith("  $ "));
  const parts = lines
    .flatMap((line) => line.slice(4).split(" | "))
    .filter((part) => part.startsWith("memoryd "));
  return parts.map((part) =>
    [...part.replace(/ > .*$/, "").matchAll(/'([^']*)'|(\S+)/g)].map(
      ([, quoted, plain]) => quoted ?? plain ?? "",
    ),
  );
}

describe.each(commands)("memoryd %s --help", (command) => {
  test("says how to call it, what it does, and shows examples", async () => {
    const help = await helpOf(command);
    expect(help).toContain(`Usage: memoryd ${command} `);
    expect(help.split("\n")[2]).toMatch(/^[A-Z].{20,}/);
    expect(help).toContain("\nExamples:\n  # ");
    expect(help.includes("--json")).toBe(!groups.has(command));
    expect(help.split("\n").filter((line) => line.length > 160)).toEqual(
      help.split("\n").filter((line) => line.length > 160 && line.startsWith("  $ ")),
    );
  });

  test("is also what memoryd help shows", async () => {
    const { stdout } = await memoryd(["help", ...command.split(" ")]);
    expect(stdout).toBe(await helpOf(command));
  });

  test("has examples whose commands and options exist", async () => {
    const examples = examplesIn(await helpOf(command));
    expect(examples.length).toBeGreaterThan(0);
    for (const [, ...words] of examples) {
      const path = commands.findLast((known) => `${words.join(" ")} `.startsWith(`${known} `)) ?? "";
      expect(commands).toContain(path);
      const help = await helpOf(path);
      for (const option of words.filter((word) => word.startsWith("--"))) expect(help).toContain(option);
    }
  });
});

test("memoryd serve --help has every option of the daemon, with its default and variable", async () => {
  const help = (await helpOf("serve")).replaceAll(/\s+/g, " ");
  const options: readonly Option[] = optionsOf("daemon");
  for (const { flag, env } of options) {
    expect(help).toContain(flag);
    expect(help).toContain(`variable: ${env})`);
  }
  expect(help).toContain("default: 127.0.0.1:7411");
  expect(help).not.toContain("--workspace");
});

test("memoryd --help lists the commands, examples and exit codes", async () => {
  const { code, stdout, stderr } = await memoryd(["--help"]);
  for (const command of commands.filter((name) => !name.includes(" ")))
    expect(stdout).toMatch(new RegExp(`^  ${command} {2}`, "m"));
  expect(stdout).toContain("Exit codes:\n  0  done\n");
  expect(stderr).toBe("");
  expect(code).toBe(0);
});

test("the version is printed alone", async () => {
  const { code, stdout } = await memoryd(["--version"]);
  expect(stdout).toBe(`${memorydVersion}\n`);
  expect(code).toBe(0);
});

test.each([[[]], [["memory"]], [["token"]]])(
  "%j without a command shows the help on stderr and ends with 2",
  async (args) => {
    const { code, stdout, stderr } = await memoryd(args);
    expect(stderr).toContain("Usage: memoryd");
    expect(stdout).toBe("");
    expect(code).toBe(2);
  },
);
