/**
 * What is typed wrongly is answered by one sentence that says what to do, by its exit code, and with `--json` by
 * one error object; never by a stack trace, a daemon or a file.
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/folder.js";
import { memoryd, type RunOptions } from "./command-line.js";

type Wrong = {
  readonly what: string;
  readonly args: readonly string[];
  /** In the sentence, so that who typed it knows what to do. */
  readonly says: RegExp;
  readonly options?: RunOptions;
  readonly code?: number;
};

const put = ["memory", "put"];
const legal = ["--type", "pointer", "--ref", "doc:a.md"];

const table: readonly Wrong[] = [
  { what: "an unknown command", args: ["sttus"], says: /'sttus' \(did you mean status\?\); memoryd --help/ },
  { what: "an unknown command of a group", args: ["memory", "lst"], says: /'lst' .*memoryd memory --help/ },
  { what: "an unknown option", args: ["status", "--jsn"], says: /'--jsn' \(did you mean --json\?\)/ },
  { what: "an option before the command", args: ["--workspace", "a", "memory", "ls"], says: /--workspace/ },
  { what: "too many arguments", args: ["status", "now"], says: /too many arguments.*memoryd status --help/i },
  { what: "a missing argument", args: ["memory", "get"], says: /missing required argument 'name'/i },
  {
    what: "an option without its value",
    args: ["memory", "ls", "--workspace"],
    says: /--workspace <name>.* argument missing/i,
  },
  { what: "a name that is no slug", args: ["memory", "get", "Cache_Key"], says: /NAME must be lower-case/ },
  { what: "an empty name", args: ["memory", "delete", ""], says: /NAME must be lower-case/ },
  {
    what: "a name with terminal controls",
    args: ["memory", "get", "a\u001b[31m\u202e"],
    says: /NAME must be/,
  },
  {
    what: "a workspace that is no slug",
    args: ["memory", "ls", "--workspace", "My Work"],
    says: /client\.workspace \(from --workspace\) must be/,
  },
  {
    what: "a page size that is no number",
    args: ["memory", "ls", "--page-size", "ten"],
    says: /--page-size must be a whole number/,
  },
  { what: "a negative page size", args: ["memory", "ls", "--page-size=-1"], says: /--page-size must be/ },
  {
    what: "an unknown type",
    args: [...put, "a", "--type", "note"],
    says: /Allowed choices are pointer, decision, plan/,
  },
  {
    what: "a ref without a kind",
    args: [...put, "a", "--type", "plan", "--ref", "src/a.ts"],
    says: /--ref must be kind:target/,
  },
  {
    what: "a ref of an unknown kind",
    args: [...put, "a", "--type", "plan", "--ref", "file:a.ts"],
    says: /query, node, output, command, doc/,
  },
  {
    what: "a ref without a target",
    args: [...put, "a", "--type", "plan", "--ref", "doc:"],
    says: /--ref must be/,
  },
  { what: "a record without a name", args: [...put, ...legal], says: /NAME is missing; give it/ },
  { what: "nothing to write", args: [...put, "a"], says: /nothing to write; add --type and --ref/ },
  { what: "nothing to patch", args: [...put, "a", "--patch"], says: /nothing to write/ },
  {
    what: "a body given twice",
    args: [...put, "a", ...legal, "--body", "x", "--body-file", "y"],
    says: /--body-file cannot both/,
  },
  {
    what: "stdin read twice",
    args: [...put, "--file", "-", "--body-file", "-"],
    says: /cannot both read stdin/,
    options: { stdin: '{"name":"a"}' },
  },
  {
    what: "a file that is not there",
    args: [...put, "--file", "./no/such.json"],
    says: /--file names .*no such file/,
  },
  { what: "a folder for a file", args: [...put, "--file", "."], says: /--file names \., .*folder/ },
  {
    what: "a file that is no JSON",
    args: [...put, "--file", "-"],
    says: /--file is given no JSON/,
    options: { stdin: "name: a" },
  },
  {
    what: "JSON that is no record",
    args: [...put, "--file", "-"],
    says: /--file holds no record/,
    options: { stdin: "[1]" },
  },
  {
    what: "a record with a member that nobody knows",
    args: [...put, "--file", "-"],
    says: /--file holds no record.*boddy/,
    options: { stdin: '{"name":"a","boddy":"x"}' },
  },
  {
    what: "a record with an unknown type",
    args: [...put, "--file", "-"],
    says: /--file holds no record/,
    options: { stdin: '{"name":"a","type":"MEMORY_TYPE_NOTE"}' },
  },
  {
    what: "bytes that are not UTF-8",
    args: ["memory", "cursor", "set"],
    says: /not UTF-8/,
    options: { stdin: new Uint8Array([0x61, 0xff]) },
  },
  {
    what: "more on stdin than anything legal",
    args: ["memory", "cursor", "set"],
    says: /more than 4194304 bytes/,
    options: { stdin: "x".repeat(4_194_305) },
  },
  {
    what: "a cursor given twice",
    args: ["memory", "cursor", "set", "a", "--file", "b"],
    says: /TEXT and --file cannot both/,
  },
  {
    what: "a cursor that a person would have to type",
    args: ["memory", "cursor", "set"],
    says: /TEXT is missing; give it/,
    options: { isTerminal: true },
  },
  {
    what: "a time that is none",
    args: [...put, "a", ...legal, "--if-update-time", "yesterday"],
    says: /--if-update-time must be/,
  },
  {
    what: "a time that no calendar has",
    args: ["memory", "delete", "a", "--if-update-time", "2026-02-30T00:00:00Z"],
    says: /--if-update-time must be/,
  },
  {
    what: "an address without a port",
    args: ["serve", "--listen", "localhost"],
    says: /listen\.address \(from --listen\) must be host:port/,
  },
  { what: "no way in at all", args: ["serve", "--no-tcp", "--no-socket"], says: /leave one on/ },
  {
    what: "the whole network without TLS",
    args: ["serve", "--listen", "0.0.0.0:0"],
    says: /add --tls-cert and --tls-key/,
  },
  {
    what: "a number out of range",
    args: ["serve", "--max-records", "0"],
    says: /memory\.max_records .* from 1 to 1000000/,
  },
  {
    what: "an empty stream for a cursor",
    args: ["memory", "cursor", "set"],
    says: /TEXT is missing, since stdin is empty; give '' as the argument/,
  },
  {
    what: "an empty file for a cursor",
    args: ["memory", "cursor", "set", "--file", "/dev/null"],
    says: /TEXT is missing, since the file is empty/,
  },
  {
    what: "a delete of what is absent",
    args: ["memory", "delete", "a", "--if-update-time", "absent"],
    says: /--if-update-time cannot be absent/,
  },
  { what: "help of an unknown command", args: ["help", "foo"], says: /'foo'; memoryd --help/ },
  {
    what: "help of an unknown command of a group",
    args: ["memory", "gett", "--help"],
    says: /'gett' \(did you mean get\?\); memoryd memory --help/,
  },
  {
    what: "an unknown command of a group with a default",
    args: ["memory", "cursor", "st", "x"],
    says: /'st' \(did you mean set\?\); memoryd memory cursor --help/,
  },
  {
    what: "an unknown variable",
    args: ["memory", "ls"],
    says: /MEMORYD_WORKSPCE is no variable.*MEMORYD_WORKSPACE/,
    options: { variables: { MEMORYD_WORKSPCE: "a" } },
  },
  {
    what: "a variable with an illegal value",
    args: ["memory", "cursor"],
    says: /log\.level \(from MEMORYD_LOG_LEVEL\) must be one of/,
    options: { variables: { MEMORYD_LOG_LEVEL: "loud" } },
  },
  {
    what: "an address that is no daemon's",
    args: ["status", "--url", "ftp://x"],
    says: /client\.url \(from --url\) must be/,
  },
  {
    what: "an address where nobody answers",
    args: ["memory", "ls", "--url", "http://127.0.0.1:1"],
    says: / at http:\/\/127\.0\.0\.1:1/,
    code: 9,
  },
  {
    what: "no daemon to ask",
    args: ["status"],
    says: /No daemon is running here; memoryd serve starts one/,
    code: 9,
  },
];

/** The command line with a folder of the test's own, where the command knows folders. */
function inFolder({ args, options = {} }: Wrong, folder: string): [readonly string[], RunOptions] {
  const variables = { MEMORYD_DATA_DIR: folder, ...options.variables };
  return [args, { ...options, variables }];
}

describe.each(table)("$what", (wrong) => {
  test("is answered by a sentence and its exit code", async () => {
    const folder = join(temporaryFolder(), "instance");
    const { code, stdout, stderr } = await memoryd(...inFolder(wrong, folder));
    expect(stderr).toMatch(wrong.says);
    expect(stderr).toMatch(/^\S*memoryd:\S* .*\.\n$/);
    const told = stripVTControlCharacters(stderr);
    for (const never of ["\u001b", "\u202e", "\n    at "]) expect(told).not.toContain(never);
    expect(stdout).toBe("");
    expect(code).toBe(wrong.code ?? 2);
    if (wrong.args[0] !== "serve") expect(existsSync(folder)).toBe(false);
  });

  test("is answered to a program by one error object", async () => {
    const folder = join(temporaryFolder(), "instance");
    const [args, options] = inFolder(wrong, folder);
    const { code, stdout, stderr, error } = await memoryd([...args, "--json"], options);
    if (wrong.says.source !== "--workspace <name>.* argument missing")
      expect(error().message).toMatch(wrong.says);
    expect(error().code).toBe(code === 9 ? "unavailable" : "invalid_argument");
    expect(error().reason).toMatch(/^[A-Z_]+$/);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(stdout).toBe("");
    expect(code).toBe(wrong.code ?? 2);
  });
});

describe("a fault of the configuration that is the next start's", () => {
  const options = (folder: string) => ({
    variables: { MEMORYD_DATA_DIR: folder, MEMORYD_LISTEN_ADDRESS: "nowhere" },
  });

  test.each([
    [["stop"], 0],
    [["status"], 9],
    [["token", "show"], 0],
  ])("is a warning to %j", async (args, code) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "config.json"), "{");
    const ran = await memoryd(args, options(folder));
    expect(ran.stderr).toMatch(/^memoryd: warning: .*config\.json is not JSON.*/m);
    expect(ran.stderr).toMatch(
      /^memoryd: warning: .*listen\.address \(from MEMORYD_LISTEN_ADDRESS\) must be/m,
    );
    expect(ran.code).toBe(code);
    const [warning = ""] = (await memoryd([...args, "--json"], options(folder))).stderr.split("\n");
    expect(JSON.parse(warning)).toMatchObject({ warning: { message: expect.stringContaining("listen") } });
  });

  test("is none when it says which daemon is meant", async () => {
    const variables = { MEMORYD_DATA_DIR: join(temporaryFolder(), "none"), MEMORYD_URL: "ftp://x" };
    const { code, stderr } = await memoryd(["stop"], { variables });
    expect(stderr).toMatch(/^memoryd: client\.url \(from MEMORYD_URL\) must be/);
    expect(code).toBe(2);
  });
});

test("--json may stand before the command", async () => {
  const args = ["--json", "status", "--data-dir", join(temporaryFolder(), "none")];
  expect((await memoryd(args)).error()).toMatchObject({ reason: "DAEMON_NOT_RUNNING" });
});

describe("a place that memoryd cannot use", () => {
  /** What serve says, on every line that it says it on. */
  const refusal = async (args: readonly string[], code: number): Promise<string> => {
    const ran = await memoryd(["serve", "--listen", "127.0.0.1:0", ...args]);
    expect(ran.stdout).toBe("");
    expect(ran.stderr).toMatch(/^memoryd: [^\n]*\.\n$/);
    expect(ran.code).toBe(code);
    return ran.stderr;
  };

  test("is a data folder that is a file, or below one", async () => {
    const file = join(temporaryFolder(), "taken");
    writeFileSync(file, "");
    const says = `memoryd: ${file} is a file, where memoryd needs a folder; name another place.\n`;
    expect(await refusal(["--data-dir", file], 6)).toBe(says);
    expect(await refusal(["--data-dir", join(file, "below")], 6)).toContain(
      `below cannot be made: ${file} is a file`,
    );
    const { code, stderr } = await memoryd(["memory", "ls", "--data-dir", file]);
    expect(stderr).toBe(says);
    expect(code).toBe(6);
  });

  test("is a folder that others use, which stays as it is", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "notes.txt"), "");
    chmodSync(folder, 0o755);
    expect(await refusal(["--data-dir", folder], 6)).toContain(`${folder} may be entered by others; give`);
    for (const args of [
      ["memory", "ls"],
      ["token", "show"],
    ])
      expect((await memoryd([...args, "--data-dir", folder])).stderr).toContain("may be entered by others");
    expect(readdirSync(folder)).toEqual(["notes.txt"]);
    expect(statSync(folder).mode & 0o777).toBe(0o755);
  });

  test("is a log file that is a folder, or below a file", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "config.json"), "{}");
    const instance = ["--data-dir", join(folder, "instance")];
    expect(await refusal([...instance, "--log-file", folder], 2)).toContain("it is a folder");
    const below = join(folder, "config.json", "a.log");
    expect(await refusal([...instance, "--log-file", below], 2)).toContain("config.json is a file");
  });

  test("leaves no trace elsewhere, whoever named the folder", async () => {
    const folder = join(temporaryFolder(), "instance");
    await memoryd(["serve", "--max-records", "0"], { variables: { MEMORYD_DATA_DIR: folder } });
    expect(readdirSync(folder)).toEqual(["start-failure.json"]);
  });
});

describe("a configuration file", () => {
  test("with an unknown key and an illegal value has both told, with the place", async () => {
    const folder = temporaryFolder();
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "config.json"), '{"listen.prot": 1, "log": {"level": "loud"}}');
    const { code, stderr } = await memoryd(["memory", "ls", "--data-dir", folder]);
    expect(stderr).toContain(`listen.prot (in ${join(folder, "config.json")}) is no option`);
    expect(stderr).toContain("log.level (in ");
    expect(code).toBe(2);
  });
});

test("violations are members of the error object", async () => {
  const { error } = await memoryd(["memory", "get", "A", "--json"], {
    variables: { MEMORYD_DATA_DIR: join(temporaryFolder(), "none") },
  });
  expect(error()).toMatchObject({
    violations: [{ field: "NAME", description: expect.stringContaining("must be") }],
  });
});
