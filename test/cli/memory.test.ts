/** The memory commands against a real daemon: what is put is listed, read, changed under conditions, deleted. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { daemonOfFile, startDaemon } from "../support/daemon.js";
import { temporaryFolder } from "../support/folder.js";
import { memoryd, type RunOptions } from "./command-line.js";

const daemon = daemonOfFile();

/** Runs `memoryd memory …` in a workspace of the test's own. */
const within =
  (workspace: string) =>
  (args: readonly string[], options: RunOptions = {}) =>
    memoryd(["memory", ...args, "--data-dir", daemon().folder], {
      ...options,
      variables: { MEMORYD_WORKSPACE: workspace, ...options.variables },
    });

const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/;
const timeIn = (text: string): string => time.exec(text)?.[0] ?? "";

test("a record is put, listed, read, patched and deleted", async () => {
  const memory = within("round-trip");
  const fields = ["--ref", "node:file:src/cache.ts", "--ref", "doc:docs/cache.md", "--reference", "api"];
  const put = await memory([
    "put",
    "cache-key",
    "--type",
    "decision",
    ...fields,
    "--body",
    "Key by content hash.\n",
  ]);
  expect(put.stdout).toMatch(/^Wrote cache-key \(decision, 2 refs\) at .*Z\.\n$/);
  expect(put.code).toBe(0);

  const listed = await memory(["ls"]);
  expect(listed.stdout).toMatch(/^NAME +TYPE +UPDATED +REFS +STATUS\ncache-key +decision +\S+Z +2\n$/);

  const read = await memory(["get", "cache-key"]);
  expect(read.stdout.split("\n")).toEqual([
    "name        cache-key",
    "type        decision",
    "refs        node file:src/cache.ts",
    "            doc docs/cache.md",
    "references  api",
    expect.stringMatching(/^created {5}/),
    expect.stringMatching(/^updated {5}/),
    "",
    "Key by content hash.",
    "",
  ]);

  expect((await memory(["put", "cache-key", "--patch", "--status", "accepted"])).code).toBe(0);
  const patched = await memory(["get", "cache-key", "--json"]);
  expect(patched.json()).toMatchObject({
    status: "accepted",
    body: "Key by content hash.",
    references: ["api"],
  });

  expect((await memory(["put", "cache-key", "--type", "plan", "--ref", "doc:a.md"])).code).toBe(0);
  const replaced = (await memory(["get", "cache-key", "--json"])).json();
  expect(replaced).toMatchObject({ type: "MEMORY_TYPE_PLAN" });
  expect(replaced).not.toHaveProperty("status");

  expect(await memory(["delete", "cache-key"])).toMatchObject({ code: 0, stdout: "Deleted cache-key.\n" });
  expect((await memory(["ls", "--json"])).json()).toEqual({ memories: [] });
});

describe("a list", () => {
  test("of several pages is one table in line, and one JSON document", async () => {
    const memory = within("pages");
    const names = ["a", "a-much-longer-name-than-the-first", "b", "c", "d"];
    for (const name of names) await memory(["put", name, "--type", "pointer", "--ref", "doc:a.md"]);
    const whole = await memory(["ls"]);
    const paged = await memory(["ls", "--page-size", "3"]);
    expect(paged.stdout).toBe(whole.stdout);
    const { memories } = (await memory(["ls", "--page-size", "2", "--json"])).json() as {
      memories: { name: string }[];
    };
    expect(memories.map(({ name }) => name)).toEqual(names);
  });

  test("in its long form shows when a record was made, its references and its first ref", async () => {
    const memory = within("long");
    await memory([
      "put",
      "a",
      "--type",
      "plan",
      "--ref",
      "command:npm test",
      "--reference",
      "b",
      "--status",
      "open",
    ]);
    const [head, row] = (await memory(["ls", "--long"])).stdout.split("\n");
    expect(head).toMatch(/^NAME +TYPE +UPDATED +CREATED +REFS +REFERENCES +STATUS +FIRST REF$/);
    expect(row).toMatch(/^a +plan +\S+Z +\S+Z +1 +1 +open +command npm test$/);
  });

  test("leaves a damaged record out and says so, until it is replaced", async () => {
    const own = await startDaemon();
    const memory = (args: readonly string[]) => memoryd(["memory", ...args, "--data-dir", own.folder]);
    for (const name of ["a", "b"]) await memory(["put", name, "--type", "pointer", "--ref", "doc:a.md"]);
    await own.stop();
    const database = new Database(join(own.folder, "memoryd.db"));
    database.prepare("update memory_records set type = 9 where name = 'b'").run();
    database.close();
    await startDaemon({ folder: own.folder });
    const listed = await memory(["ls"]);
    expect(listed.stdout).toMatch(/^NAME .*\na .*\n$/);
    expect(listed.stderr).toMatch(/^1 more cannot be read any longer; .*\.\n$/);
    expect((await memory(["ls", "--json"])).json()).toMatchObject({
      memories: [{ name: "a" }],
      skippedRecords: 1,
    });
    const patched = await memory(["put", "b", "--patch", "--status", "x", "--json"]);
    expect(patched.error()).toMatchObject({ reason: "RECORD_UNREADABLE" });
    expect(patched.code).toBe(6);
    expect((await memory(["put", "b", "--type", "plan", "--ref", "doc:b.md"])).code).toBe(0);
    expect((await memory(["ls"])).stderr).toBe("");
  });

  test("of an empty workspace says so beside stdout", async () => {
    const { code, stdout, stderr } = await within("nothing-here")(["ls"]);
    expect(stdout).toBe("");
    expect(stderr).toContain("There are no records in the workspace nothing-here;");
    expect(code).toBe(0);
  });
});

describe("a record that is not there", () => {
  test.each([
    [["get", "cache-kez"], /no record cache-kez .*Perhaps you mean cache-key\./],
    [["delete", "cache-kez"], /no record cache-kez .*--allow-missing\. Perhaps you mean cache-key\./],
    [
      ["put", "cache-kez", "--type", "plan", "--ref", "doc:a", "--no-create"],
      /leave out --no-create.*cache-key\./,
    ],
  ])("%j ends with 4 and tells the near names", async (args, says) => {
    const memory = within("absent");
    await memory(["put", "cache-key", "--type", "pointer", "--ref", "doc:a.md"]);
    const { code, stderr, stdout } = await memory(args);
    expect(stderr).toMatch(says);
    expect(stdout).toBe("");
    expect(code).toBe(4);
    expect((await memory([...args, "--json"])).error()).toMatchObject({
      code: "not_found",
      reason: "RECORD_NOT_FOUND",
      nearest: ["cache-key"],
    });
  });

  test("can be deleted with --allow-missing", async () => {
    const memory = within("absent");
    expect((await memory(["delete", "gone", "--allow-missing", "--json"])).json()).toEqual({});
    expect((await memory(["delete", "gone", "--allow-missing"])).stdout).toBe("There was no record gone.\n");
    await memory(["put", "gone", "--type", "pointer", "--ref", "doc:a.md"]);
    expect((await memory(["delete", "gone", "--allow-missing"])).stdout).toBe("Deleted gone.\n");
  });

  test("cannot be patched into being, and the sentence says so", async () => {
    const { code, stderr } = await within("absent")(["put", "gone", "--patch", "--status", "done"]);
    expect(stderr).toContain("There is no record gone to patch");
    expect(code).toBe(4);
  });
});

describe("a conditional write", () => {
  test("that comes too late ends with 6 and shows what is stored now", async () => {
    const memory = within("conflict");
    const first = await memory(["put", "a", "--type", "plan", "--ref", "doc:a.md", "--body", "one"]);
    const seen = timeIn(first.stdout);
    const patch = (body: string) => ["put", "a", "--patch", "--body", body, "--if-update-time", seen];
    expect((await memory(patch("two"))).code).toBe(0);
    const late = await memory(patch("three"));
    expect(late.code).toBe(6);
    expect(late.stderr).toMatch(/merge into the current one.*\n\nname +a\n/);
    expect(late.stderr.trimEnd().split("\n").at(-1)).toBe("two");
    expect((await memory([...patch("three"), "--json"])).error()).toMatchObject({
      code: "version_conflict",
      reason: "STALE_UPDATE_TIME",
      current: { record: { memory: { name: "a", body: "two" } } },
    });
    const retried = await memory(patch("two"));
    expect(retried.code).toBe(0);
  });

  test("that must find nothing is refused where something is, and told apart where nothing is", async () => {
    const memory = within("conflict-absent");
    const put = ["put", "a", "--type", "pointer", "--ref", "doc:a.md", "--if-update-time"];
    expect((await memory([...put, "2026-03-04T05:06:07.089Z"])).stderr).toContain("Nothing is stored.");
    expect((await memory([...put, "absent"])).code).toBe(0);
    expect(
      (await memory(["put", "a", "--type", "plan", "--ref", "doc:b", "--if-update-time", "absent"])).code,
    ).toBe(6);
  });

  test("guards a delete as well", async () => {
    const memory = within("conflict-delete");
    await memory(["put", "a", "--type", "pointer", "--ref", "doc:a.md"]);
    const { code, stderr } = await memory(["delete", "a", "--if-update-time", "2026-03-04T05:06:07.089Z"]);
    expect(stderr).toMatch(/name +a\n/);
    expect(code).toBe(6);
  });
});

describe("a record from a file", () => {
  const json = {
    name: "from-file",
    type: "MEMORY_TYPE_DECISION",
    refs: [{ kind: "MEMORY_REF_KIND_NODE", target: "a.ts" }],
    body: "Why.",
    createTime: "1970-01-01T00:00:00Z",
  };

  test("brings its name; options win over its fields", async () => {
    const memory = within("files");
    const file = join(temporaryFolder(), "record.json");
    writeFileSync(file, `\ufeff${JSON.stringify(json)}`);
    const put = await memory(["put", "--file", file, "--status", "accepted", "--json"]);
    expect(put.json()).toMatchObject({ name: "from-file", status: "accepted", body: "Why." });
    expect(put.json()).not.toMatchObject({ createTime: json.createTime });
  });

  test("is copied under another name through a pipe", async () => {
    const memory = within("files");
    await memory(["put", "--file", "-"], { stdin: JSON.stringify({ ...json, name: "one" }) });
    const read = await memory(["get", "one", "--json"]);
    expect((await memory(["put", "two", "--file", "-"], { stdin: read.stdout })).code).toBe(0);
    expect((await memory(["get", "two", "--json"])).json()).toMatchObject({ name: "two", body: "Why." });
  });

  test("patches exactly the fields that it has", async () => {
    const memory = within("files");
    await memory(["put", "--file", "-"], {
      stdin: JSON.stringify({ ...json, name: "three", status: "open" }),
    });
    await memory(["put", "--patch", "--file", "-"], { stdin: '{"name":"three","body":""}' });
    const read = (await memory(["get", "three", "--json"])).json();
    expect(read).toMatchObject({ status: "open", type: json.type });
    expect(read).not.toHaveProperty("body");
  });

  test("has a body from a file of its own", async () => {
    const memory = within("files");
    const args = ["put", "four", "--type", "plan", "--ref", "doc:a", "--body-file", "-"];
    await memory(args, { stdin: "First.\n\nSecond.\n" });
    expect((await memory(["get", "four", "--json"])).json()).toMatchObject({ body: "First.\n\nSecond." });
  });

  test("that is no legal record has every fault told", async () => {
    const { code, stderr } = await within("files")(["put", "five", "--status", "x".repeat(65)]);
    for (const flag of ["--type", "--ref", "--status"])
      expect(stderr).toMatch(new RegExp(`${flag} (?:must|is)`));
    expect(stderr).not.toContain("memory.");
    expect(code).toBe(2);
  });

  test("that lacks its refs has the option named, and the number of a ref that is none", async () => {
    const memory = within("files");
    expect((await memory(["put", "x", "--type", "plan"])).stderr).toMatch(/--ref must hold 1 to 64 refs/);
    const refs = ["--ref", "doc:a", "--ref", "doc: "];
    const { stderr } = await memory(["put", "x", "--type", "plan", ...refs]);
    expect(stderr).toMatch(/--ref \(number 2\) must not be blank/);
  });

  test("may have the short names that get shows", async () => {
    const memory = within("files");
    const stdin = '{"name":"short","type":"plan","refs":[{"kind":"doc","target":"a.md"}]}';
    expect((await memory(["put", "--file", "-"], { stdin })).code).toBe(0);
    expect((await memory(["get", "short", "--json"])).json()).toMatchObject({
      type: "MEMORY_TYPE_PLAN",
      refs: [{ kind: "MEMORY_REF_KIND_DOC" }],
    });
  });
});

describe("the cursor", () => {
  test("is set by an argument, a file or stdin, and got back byte for byte", async () => {
    const memory = within("cursor");
    const file = join(temporaryFolder(), "cursor.txt");
    writeFileSync(file, "\ufeffone\r\n");
    for (const [args, stdin, text] of [
      [["next: wire the codec"], "", "next: wire the codec"],
      [["--file", file], "", "\ufeffone\r\n"],
      [["--file", "-"], " two\n\n", " two\n\n"],
      [[], "three\u202e", "three\u202e"],
      [[""], "", ""],
    ] as const) {
      expect((await memory(["cursor", "set", ...args], { stdin })).stdout).toMatch(
        /^Wrote the cursor \(.*\) at .*Z\.\n$/,
      );
      expect((await memory(["cursor"])).stdout).toBe(text);
      expect((await memory(["cursor", "get"])).stdout).toBe(text);
    }
  });

  test("comes with its update time as JSON, by which it is set again only once", async () => {
    const memory = within("cursor-times");
    expect((await memory(["cursor", "get", "--json"])).json()).toEqual({ content: "" });
    const set = (text: string, seen: string) =>
      memory(["cursor", "set", text, "--if-update-time", seen, "--json"]);
    expect((await set("one", "absent")).code).toBe(0);
    const { updateTime } = (await memory(["cursor", "get", "--json"])).json() as { updateTime: string };
    expect((await set("two", updateTime)).json()).toMatchObject({ content: "two" });
    const late = await set("three", updateTime);
    expect(late.code).toBe(6);
    expect(late.error()).toMatchObject({ current: { cursor: { content: "two" } } });
  });

  test("that was never written is empty, and that is said", async () => {
    const { code, stdout, stderr } = await within("cursor-never")(["cursor"]);
    expect(stdout).toBe("");
    expect(stderr).toContain("No cursor was written");
    expect(code).toBe(0);
  });
});

describe("stored text that would drive a terminal", () => {
  const nasty = "a\u202eb\u200bc\u{e0041}d";
  const shown = "a\\u{202e}b\\u{200b}c\\u{e0041}d";

  test("is shown as escapes, and given to programs verbatim", async () => {
    const memory = within("nasty");
    const fields = ["--ref", `doc:${nasty}`, "--status", nasty, "--body", nasty];
    await memory(["put", "a", "--type", "plan", ...fields]);
    await memory(["cursor", "set", nasty]);
    for (const args of [["ls", "--long"], ["get", "a"], ["cursor"]]) {
      const { stdout } = await memory(args, { isTerminal: true });
      expect(stdout).toContain(shown);
      expect(stdout).not.toContain("\u202e");
    }
    const verbatim = { status: nasty, body: nasty };
    const piped = await memory(["get", "a", "--json"]);
    expect(piped.stdout).toContain(nasty);
    expect(piped.json()).toMatchObject(verbatim);
    const onTerminal = await memory(["get", "a", "--json"], { isTerminal: true });
    expect(onTerminal.stdout).not.toContain("\u202e");
    expect(onTerminal.json()).toMatchObject(verbatim);
    expect((await memory(["cursor"])).stdout).toBe(nasty);
  });

  test("is shown as escapes in a conflict too", async () => {
    const memory = within("nasty-conflict");
    await memory(["cursor", "set", nasty]);
    const { stderr } = await memory(["cursor", "set", "x", "--if-update-time", "absent"]);
    expect(stderr).toContain(shown);
    expect(stderr).not.toContain("\u202e");
  });
});

test("a daemon elsewhere is named by --url and let in by a token file", async () => {
  const folder = temporaryFolder();
  const tokenFile = join(folder, "token");
  writeFileSync(tokenFile, `${daemon().token}\n`, { mode: 0o600 });
  const args = ["memory", "cursor", "--url", daemon().url, "--data-dir", join(folder, "none")];
  expect((await memoryd([...args, "--token-file", tokenFile])).code).toBe(0);
  const refused = await memoryd([...args, "--json"]);
  expect(refused.error()).toMatchObject({
    code: "unauthenticated",
    message: expect.stringMatching(/--token-file, or in MEMORYD_TOKEN\.$/),
  });
  expect(refused.code).toBe(8);
  const absent = await memoryd([...args, "--token-file", join(folder, "nope")]);
  expect(absent.stderr).toMatch(/There is no file .*nope; correct --token-file or MEMORYD_TOKEN_FILE\./);
  expect(absent.code).toBe(4);
  const isFolder = await memoryd([...args, "--token-file", "/"]);
  expect(isFolder.stderr).toContain("/ is no file that holds a token, but a folder");
  expect(isFolder.code).toBe(6);
});
