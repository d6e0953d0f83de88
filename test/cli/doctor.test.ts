/** doctor (daemon.md D10) on set-ups that are broken in one way each: what it says, what --fix does, and what it leaves alone. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { nodeFinding, oldestNode } from "../../src/cli/doctor/machine.js";
import { ensureOperatorToken } from "../../src/config/token.js";
import { root } from "../support/compile.js";
import { startDaemon } from "../support/daemon.js";
import { temporaryFolder } from "../support/folder.js";
import { memoryd, type RunOptions } from "./command-line.js";

type Check = { readonly name: string; readonly state: string; readonly message: string };
type Report = { readonly code: number; readonly ok: boolean; readonly checks: readonly Check[] };

/** What doctor reports of the folder; on a port that is surely free. */
async function doctor(
  folder: string,
  flags: readonly string[] = [],
  options: RunOptions = {},
): Promise<Report> {
  const args = ["doctor", "--json", "--data-dir", folder, "--listen", "127.0.0.1:0", ...flags];
  const ran = await memoryd(args, options);
  return { ...(ran.json() as Omit<Report, "code">), code: ran.code };
}

const inState = ({ checks }: Report, state: string): readonly Check[] =>
  checks.filter((check) => check.state === state);

/** The one check that is in `state`. */
function only(report: Report, state: string): Check {
  const found = inState(report, state);
  expect(found.map(({ name }) => name)).toHaveLength(1);
  return found[0] as Check;
}

test("a fresh machine is well, and nothing is made by looking", async () => {
  const folder = join(temporaryFolder(), "fresh");
  const report = await doctor(folder);
  expect(inState(report, "fault")).toEqual([]);
  expect(report).toMatchObject({ code: 0, ok: true });
  expect(existsSync(folder)).toBe(false);
});

test("a running daemon is well, and the parts say that they are its", async () => {
  const daemon = await startDaemon();
  const report = await doctor(daemon.folder);
  expect(report).toMatchObject({ code: 0, ok: true });
  const about = (name: string): string | undefined =>
    report.checks.find((check) => check.name === name)?.message;
  expect(about("daemon")).toContain(`process ${daemon.child.pid}`);
  expect(about("database")).toMatch(/is in use, whole, and fits this version\.$/);
  expect(about("port")).toBe(`${daemon.url} is the daemon's.`);
  expect(about("socket")).toBe(`${daemon.socket} is the daemon's.`);
});

test("a folder behind a link is looked at, not the link", async () => {
  const folder = temporaryFolder();
  const link = join(temporaryFolder(), "link");
  symlinkSync(folder, link);
  expect(await doctor(link)).toMatchObject({ code: 0, ok: true });
  chmodSync(folder, 0o750);
  expect(only(await doctor(link, ["--fix"]), "fixed").name).toBe("data");
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test("people get a line for each check and a summary", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "config.json"), "{");
  const { code, stdout } = await memoryd(["doctor", "--data-dir", folder, "--listen", "127.0.0.1:0"]);
  expect(stdout).toMatch(/^fault {2}config +.*config\.json is not JSON; correct it or move it away\.$/m);
  expect(stdout).toMatch(/^ok {5}node +This is Node .*\.$/m);
  expect(stdout).toMatch(/\n\n1 fault remains\.\n$/);
  expect(code).toBe(6);
});

describe("faults that --fix repairs", () => {
  test("a token that others may read", async () => {
    const folder = temporaryFolder();
    const file = join(folder, "operator-token");
    const token = ensureOperatorToken(file);
    chmodSync(file, 0o644);
    const found = await doctor(folder);
    expect(only(found, "fault").message).toMatch(/mode 0644\); run chmod 0600 .*, or delete it/);
    expect(found.code).toBe(6);
    const fixed = await doctor(folder, ["--fix"]);
    expect(only(fixed, "fixed").message).toContain(`Ran chmod 0600 ${file}.`);
    expect(fixed.code).toBe(0);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, "utf8").trim()).toBe(token);
  });

  test("folders and files that others may use", async () => {
    const daemon = await startDaemon();
    await daemon.stop();
    chmodSync(daemon.folder, 0o755);
    chmodSync(join(daemon.folder, "memoryd.db"), 0o640);
    expect(inState(await doctor(daemon.folder), "fault").map(({ name }) => name)).toEqual(["data", "files"]);
    expect((await doctor(daemon.folder, ["--fix"])).code).toBe(0);
    expect(statSync(daemon.folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(daemon.folder, "memoryd.db")).mode & 0o777).toBe(0o600);
  });

  test("what a daemon left behind that was killed; its data stays", async () => {
    const daemon = await startDaemon();
    await memoryd(["memory", "cursor", "set", "kept", "--data-dir", daemon.folder]);
    await daemon.kill();
    const found = await doctor(daemon.folder);
    expect(inState(found, "fault").map(({ name }) => name)).toEqual(["discovery", "socket"]);
    const fixed = await doctor(daemon.folder, ["--fix"]);
    expect(inState(fixed, "fixed").map(({ name }) => name)).toEqual(["discovery", "socket"]);
    expect(fixed.code).toBe(0);
    for (const name of ["daemon.json", "memoryd.sock"])
      expect(existsSync(join(daemon.folder, name))).toBe(false);
    await startDaemon({ folder: daemon.folder });
    expect((await memoryd(["memory", "cursor", "--data-dir", daemon.folder])).stdout).toBe("kept");
  });

  test("but no socket that a daemon with one may have left while one without it runs", async () => {
    const first = await startDaemon();
    await first.kill();
    const { folder } = await startDaemon({ folder: first.folder, flags: ["--no-socket"] });
    const report = await doctor(folder, ["--fix"]);
    expect(report).toMatchObject({ code: 0, ok: true });
    expect(report.checks.find(({ name }) => name === "socket")?.message).toContain("by an earlier daemon");
  });

  test("a discovery file that nobody can read, and the hint of a start that never ended", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "daemon.json"), "{", { mode: 0o600 });
    const hint = join(folder, "starting");
    writeFileSync(hint, "1 x", { mode: 0o600 });
    utimesSync(hint, 1_000, 1_000);
    expect(inState(await doctor(folder), "fault")).toHaveLength(2);
    expect((await doctor(folder, ["--fix"])).code).toBe(0);
    expect(existsSync(hint)).toBe(false);
  });
});

describe("faults that a person must decide about, also with --fix", () => {
  const stays = async (
    folder: string,
    name: string,
    says: RegExp,
    flags: readonly string[] = [],
    options?: RunOptions,
  ) => {
    const report = await doctor(folder, ["--fix", ...flags], options);
    const check = only(report, "fault");
    expect(check.name).toBe(name);
    expect(check.message).toMatch(says);
    expect(report.code).toBe(6);
  };

  test("a folder that others use for something else as well", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "notes.txt"), "");
    chmodSync(folder, 0o755);
    await stays(folder, "data", /may be entered by others \(mode 0755\).*; give memoryd a folder of its own/);
    expect(statSync(folder).mode & 0o777).toBe(0o755);
  });

  test("an unknown key in config.json", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "config.json"), '{"listen.prot": 1}');
    await stays(folder, "config", /listen\.prot .* is no option; perhaps .* is meant\.$/);
  });

  test("an unknown variable", async () => {
    const options = { variables: { MEMORYD_LOG_LEVL: "info" } };
    await stays(temporaryFolder(), "config", /MEMORYD_LOG_LEVL is no variable/, [], options);
  });

  test("a file in the place of the socket", async () => {
    const folder = temporaryFolder();
    const file = join(folder, "memoryd.sock");
    writeFileSync(file, "mine");
    await stays(folder, "socket", /is in the way of the socket and is none; move it/);
    expect(readFileSync(file, "utf8")).toBe("mine");
  });

  test("another program's socket", async () => {
    const folder = temporaryFolder();
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(join(folder, "memoryd.sock"), resolve));
    onTestFinished(() => void other.close());
    await stays(folder, "socket", /Another program serves .*; stop it/);
    expect(existsSync(join(folder, "memoryd.sock"))).toBe(true);
  });

  test("a port that is taken", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as { port: number };
    await stays(temporaryFolder(), "port", /is taken by .*; stop it, or/, ["--listen", `127.0.0.1:${port}`]);
  });

  test("a token file that holds none", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "operator-token"), "secret\n", { mode: 0o600 });
    await stays(folder, "token", /does not hold a token; delete it/);
    expect(existsSync(join(folder, "operator-token"))).toBe(true);
  });

  test("a database that is damaged, or none at all", async () => {
    const daemon = await startDaemon();
    await daemon.stop();
    const file = join(daemon.folder, "memoryd.db");
    const bytes = readFileSync(file);
    writeFileSync(file, Buffer.concat([bytes.subarray(0, 8_192), Buffer.alloc(bytes.length - 8_192, 0xff)]));
    await stays(daemon.folder, "database", /is damaged: put it aside and restore a backup\.$/);
    writeFileSync(file, "a text that somebody put here ".repeat(100));
    await stays(daemon.folder, "database", /is not a SQLite database/);
    expect(existsSync(file)).toBe(true);
  });

  test("a database that is damaged while a daemon uses it", async () => {
    const first = await startDaemon();
    await memoryd(["memory", "cursor", "set", "x".repeat(100_000), "--data-dir", first.folder]);
    await first.stop();
    const { folder } = await startDaemon({ folder: first.folder });
    const file = join(folder, "memoryd.db");
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0xff, 8_192), { flag: "r+" });
    // The daemon may have run into it as well by now, or not yet.
    expect(inState(await doctor(folder, ["--fix"]), "fault")).toContainEqual({
      name: "database",
      state: "fault",
      message: expect.stringMatching(/is damaged: put it aside and restore a backup\.$/),
    });
  });

  test("a folder in the place of the database", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "memoryd.db"));
    await stays(
      folder,
      "database",
      /memoryd\.db is a folder, in the way of the database; move it elsewhere\./,
    );
  });

  test("a file in the place of a folder", async () => {
    const file = join(temporaryFolder(), "taken");
    writeFileSync(file, "");
    const report = await doctor(file, ["--fix"]);
    expect(inState(report, "fault").map(({ message }) => message)).toContainEqual(
      `${file} is in the way of a folder; move it elsewhere.`,
    );
    expect(report.code).toBe(6);
  });

  test("a daemon that does not answer", async () => {
    const daemon = await startDaemon();
    daemon.child.kill("SIGSTOP");
    await stays(daemon.folder, "daemon", /process \d+\) but does not answer; end that process/);
    daemon.child.kill("SIGCONT");
    expect(existsSync(daemon.socket)).toBe(true);
  });

  test("an address in MEMORYD_URL where nobody answers", async () => {
    const options = { variables: { MEMORYD_URL: "http://127.0.0.1:1" } };
    await stays(temporaryFolder(), "url", /No memoryd answers at/, [], options);
  });
});

test("why the last start failed is told while none runs", async () => {
  const folder = temporaryFolder();
  mkdirSync(folder, { recursive: true });
  await memoryd(["serve", "--data-dir", folder, "--listen", "nowhere"]);
  const { checks } = await doctor(folder);
  expect(checks.find(({ name }) => name === "daemon")?.message).toMatch(
    /the last start that failed .* must be host:port/,
  );
  rmSync(join(folder, "start-failure.json"));
});

test.each([
  ["20.18.3", true],
  ["18.20.0", true],
  ["20.19.0", false],
  ["24.0.0", false],
])("Node %s is a fault: %s", (version, isFault) => {
  expect(nodeFinding(version)).toMatchObject({ isFault });
});

test("the oldest Node is the one that the package names", () => {
  const { engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    engines: { node: string };
  };
  expect(engines.node).toBe(`>=${oldestNode.join(".")}`);
});
