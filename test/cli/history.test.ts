/** The commands on history and workspaces against a real daemon: log, diff, restore, redact, workspace ls. */
import { describe, expect, test } from "vitest";
import { daemonOfFile, startDaemon } from "../support/daemon.js";
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

type Memory = ReturnType<typeof within>;

/** A record with three states: revisions 1, 2 and 3. */
async function writeThrice(memory: Memory): Promise<void> {
  const put = ["put", "cache-key", "--type", "decision", "--ref", "doc:a.md"];
  await memory([...put, "--status", "open", "--body", "one\ntwo\nthree"]);
  await memory(["put", "cache-key", "--patch", "--body", "one\n2\nthree"]);
  await memory(["put", "cache-key", "--patch", "--status", "done"]);
}

test("a record is read by its name, and near names are told", async () => {
  const memory = within("get");
  await writeThrice(memory);
  expect((await memory(["get", "cache-key", "--json"])).json()).toMatchObject({ name: "cache-key" });
  const absent = await memory(["get", "cache-kez"]);
  expect(absent.code).toBe(4);
  expect(absent.stderr).toMatch(/no record cache-kez .*Perhaps you mean cache-key\./);
});

describe("log", () => {
  test("lists the states of a record, newest first, and goes on when it is deleted", async () => {
    const memory = within("log");
    await writeThrice(memory);
    await memory(["delete", "cache-key"]);
    const { code, stdout } = await memory(["log", "cache-key"]);
    expect(code).toBe(0);
    const [head, ...rows] = stdout.trimEnd().split("\n");
    expect(head).toMatch(/^REVISION +CHANGE +TIME +BY +STATUS$/);
    expect(rows.map((row) => row.split(/ +/).filter((_, index) => index < 2))).toEqual([
      ["4", "deleted"],
      ["3", "updated"],
      ["2", "updated"],
      ["1", "created"],
    ]);
    expect(rows[1]).toMatch(/Z +\S+ +done$/);
    const { revisions } = (await memory(["log", "cache-key", "-n", "2", "--json"])).json() as {
      revisions: { revision: string }[];
    };
    expect(revisions.map(({ revision }) => revision)).toEqual(["4", "3"]);
  });

  test("of the cursor shows how each value begins, made visible", async () => {
    const memory = within("log-cursor");
    expect((await memory(["log", "--cursor"])).stderr).toContain("No cursor was written");
    await memory(["cursor", "set", "first\nmore"]);
    await memory(["cursor", "set", "\u202esecond"]);
    const [head, newest, oldest] = (await memory(["log", "--cursor"])).stdout.split("\n");
    expect(head).toMatch(/^REVISION +TIME +BY +SIZE +BEGINS$/);
    expect(newest).toMatch(/^2 .* \\u\{202e\}second$/);
    expect(oldest).toMatch(/^1 .* first$/);
    const { cursors } = (await memory(["log", "--cursor", "--json"])).json() as {
      cursors: { content: string }[];
    };
    expect(cursors.map(({ content }) => content)).toEqual(["\u202esecond", "first\nmore"]);
  });

  test("of a name that was never written ends with code 4", async () => {
    expect((await within("log-absent")(["log", "gone"])).code).toBe(4);
  });
});

describe("diff", () => {
  test("shows the last write, one revision against the newest, and any two", async () => {
    const memory = within("diff");
    await writeThrice(memory);
    const changed = async (...revisions: string[]): Promise<string[]> => {
      const { code, stdout } = await memory(["diff", "cache-key", ...revisions]);
      expect(code).toBe(0);
      const lines = stdout.trimEnd().split("\n");
      expect(lines[0]).toMatch(/^--- cache-key revision \d \(\w+ \S+Z by \S+\)$/);
      expect(lines[1]).toMatch(/^\+\+\+ cache-key revision \d \(\w+ \S+Z by \S+\)$/);
      return lines.slice(2).filter((line) => !line.startsWith(" "));
    };
    expect(await changed()).toEqual(["@@ -1,5 +1,5 @@", "-status open", "+status done"]);
    expect(await changed("1", "2")).toEqual(["@@ -3,5 +3,5 @@", "-two", "+2"]);
    expect(await changed("1")).toEqual(["@@ -1,7 +1,7 @@", "-status open", "+status done", "-two", "+2"]);
    expect(await changed("3", "2")).toEqual(["@@ -1,5 +1,5 @@", "-status done", "+status open"]);
  });

  test("gives both states whole as JSON", async () => {
    const memory = within("diff-json");
    await writeThrice(memory);
    expect((await memory(["diff", "cache-key", "--json"])).json()).toMatchObject({
      from: { revision: "2", memory: { status: "open" } },
      to: { revision: "3", memory: { status: "done" } },
    });
  });

  test("with a deletion shows every line as gone", async () => {
    const memory = within("diff-deleted");
    await writeThrice(memory);
    await memory(["delete", "cache-key"]);
    const { stdout } = await memory(["diff", "cache-key"]);
    expect(stdout).toContain("@@ -1,7 +0,0 @@\n-type decision\n");
  });

  test("of equal states prints nothing and says so", async () => {
    const memory = within("diff-equal");
    await writeThrice(memory);
    const { code, stdout, stderr } = await memory(["diff", "cache-key", "2", "2"]);
    expect([code, stdout]).toEqual([0, ""]);
    expect(stderr).toContain("say the same");
  });

  test("refuses what is no revision, is not kept, or has nothing to compare", async () => {
    const memory = within("diff-refused");
    await memory(["put", "a", "--type", "pointer", "--ref", "doc:a.md"]);
    for (const revision of ["0", "-1", "x", "1.5"]) {
      expect((await memory(["diff", "a", "--", revision])).code).toBe(2);
    }
    expect((await memory(["diff", "a", "7"])).stderr).toContain("No revision 7 of a is kept");
    const alone = await memory(["diff", "a"]);
    expect([alone.code, alone.stderr]).toEqual([4, expect.stringContaining("Only one state of a")]);
  });
});

describe("restore", () => {
  test("brings a deleted record back, undoes the last write, and takes a revision", async () => {
    const memory = within("restore");
    await writeThrice(memory);
    const statusOf = async (): Promise<unknown> =>
      ((await memory(["get", "cache-key", "--json"])).json() as { status?: string }).status;
    await memory(["delete", "cache-key"]);
    const back = await memory(["restore", "cache-key"]);
    expect([back.code, back.stdout]).toEqual([
      0,
      expect.stringMatching(/^Restored cache-key as revision 5 at \S+Z\.\n$/),
    ]);
    expect(await statusOf()).toBe("done");
    const json = (await memory(["restore", "cache-key", "1", "--json"])).json();
    expect(json).toMatchObject({ name: "cache-key", status: "open", body: "one\ntwo\nthree" });
    await memory(["restore", "cache-key"]);
    expect(await statusOf()).toBe("done");
  });

  test("of another state than was seen ends with code 6 and shows what is stored", async () => {
    const memory = within("restore-late");
    await writeThrice(memory);
    const late = ["--if-update-time", "1970-01-01T00:00:00Z"];
    const { code, stderr } = await memory(["restore", "cache-key", "1", ...late]);
    expect(code).toBe(6);
    expect(stderr).toContain("done");
    expect((await memory(["restore", "cache-key", "99"])).code).toBe(4);
    expect((await memory(["restore", "gone"])).code).toBe(4);
  });
});

describe("redact", () => {
  test("asks for --yes, then empties what is not stored now", async () => {
    const memory = within("redact");
    await writeThrice(memory);
    const asked = await memory(["redact", "cache-key"]);
    expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining("--yes")]);
    const done = await memory(["redact", "cache-key", "--yes"]);
    expect([done.code, done.stdout]).toEqual([0, "Emptied 2 earlier states of cache-key.\n"]);
    const { stdout } = await memory(["log", "cache-key"]);
    expect(stdout.match(/\(redacted\)/g)).toHaveLength(2);
    expect((await memory(["get", "cache-key"])).code).toBe(0);
    const diff = await memory(["diff", "cache-key"]);
    expect([diff.code, diff.stderr]).toEqual([6, expect.stringContaining("was redacted")]);
    expect((await memory(["redact", "cache-key", "--yes", "--json"])).json()).toEqual({ redactedCount: 0 });
    expect((await memory(["redact", "gone", "--yes"])).code).toBe(4);
  });

  test("of the cursor empties its earlier values", async () => {
    const memory = within("redact-cursor");
    for (const text of ["one", "two"]) await memory(["cursor", "set", text]);
    const done = await memory(["redact", "--cursor", "--yes"]);
    expect(done.stdout).toBe("Emptied 1 earlier state of the cursor.\n");
    expect((await memory(["cursor", "get"])).stdout).toBe("two");
    expect((await memory(["redact", "a", "--cursor", "--yes"])).code).toBe(2);
  });
});

test("workspace ls lists the workspaces with their counts and marks the default one", async () => {
  const own = await startDaemon();
  const run = (args: readonly string[], workspace?: string) =>
    memoryd([...args, "--data-dir", own.folder], {
      variables: workspace === undefined ? {} : { MEMORYD_WORKSPACE: workspace },
    });
  expect((await run(["workspace", "ls"])).stderr).toContain("There are no workspaces yet");
  await run(["memory", "put", "a", "--type", "pointer", "--ref", "doc:a.md"], "default");
  await run(["memory", "cursor", "set", "text"], "another");
  const [head, ...rows] = (await run(["workspace", "ls"])).stdout.trimEnd().split("\n");
  expect(head).toMatch(/^WORKSPACE +RECORDS +UPDATED$/);
  expect(rows).toEqual([
    expect.stringMatching(/^another +0 +\S+Z$/),
    expect.stringMatching(/^default +1 +\S+Z +default$/),
  ]);
  expect((await run(["workspace", "ls", "--json"])).json()).toMatchObject({
    workspaces: [{ workspace: "another" }, { workspace: "default", recordCount: 1 }],
    defaultWorkspace: "default",
  });
});
