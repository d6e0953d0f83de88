/** The configuration: where a value comes from, what is refused and how that is said. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { daemonVariablesFrom, describeConfig } from "../../src/config/describe.js";
import { type Config, loadConfig } from "../../src/config/load.js";
import { isMemorydError, type MemorydError } from "../../src/kernel/errors.js";
import { verifies } from "../support/verifies.js";
import { linux, win32 } from "./environment.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "memoryd-config-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

type Sources = { flags?: object; variables?: Record<string, string>; file?: unknown };

function load({ flags = {}, variables = {}, file }: Sources): Config {
  if (file !== undefined) {
    const text = typeof file === "string" ? file : JSON.stringify(file);
    writeFileSync(join(folder, "config.json"), text);
  }
  return loadConfig({ flags: { data_dir: folder, ...flags }, environment: linux(variables) });
}

function refusal(sources: Sources): MemorydError {
  try {
    load(sources);
  } catch (error) {
    if (isMemorydError(error)) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("a value", () => {
  test("comes from the flag, else the variable, else the file, else the default", () => {
    const flags = { "log.level": "debug" };
    const variables = { MEMORYD_LOG_LEVEL: "warn" };
    const file = { log: { level: "error" } };
    expect(load({ flags, variables, file }).log.level).toBe("debug");
    expect(load({ variables, file }).log.level).toBe("warn");
    expect(load({ file }).log.level).toBe("error");
    expect(load({ file: {} }).log.level).toBe("info");
    expect(load({ flags: { "log.level": undefined }, file }).log.level).toBe("error");
  });

  test("may stand in the file by groups or by its dotted key", () => {
    expect(load({ file: { listen: { socket: false } } }).listen.socket).toBe(false);
    expect(load({ file: { "listen.socket": false } }).listen.socket).toBe(false);
  });

  test("keeps its type on every way", () => {
    const wanted = { tcp: false, host: "::1", port: 0, isDefault: false, portFallback: true, socket: true };
    const flags = { "listen.tcp": false, "listen.address": "[::1]:0", "listen.port_fallback": true };
    const variables = {
      MEMORYD_LISTEN_TCP: "false",
      MEMORYD_LISTEN_ADDRESS: "[::1]:0",
      MEMORYD_LISTEN_PORT_FALLBACK: "1",
    };
    const file = { listen: { tcp: false, address: "[::1]:0", port_fallback: true } };
    for (const sources of [{ flags }, { variables }, { file }]) expect(load(sources).listen).toEqual(wanted);
  });

  test("of a list is a list in the file and for flags, and separated by commas in a variable", () => {
    const hosts = ["memory.example.org", "10.0.0.7"];
    for (const sources of [
      { flags: { "access.allow_host": hosts } },
      { variables: { MEMORYD_ACCESS_ALLOW_HOST: "Memory.example.org, 10.0.0.7,10.0.0.7" } },
      { file: { access: { allow_host: hosts } } },
    ]) {
      expect(load(sources).access.allowHost).toEqual(hosts);
      rmSync(join(folder, "config.json"), { force: true });
    }
  });

  test("of a host is its one spelling", () => {
    const allow_host = ["BOX.example.org", "[2001:DB8:0::1]", "::1"];
    expect(load({ file: { access: { allow_host } } }).access.allowHost).toEqual([
      "box.example.org",
      "2001:db8::1",
      "::1",
    ]);
  });

  test("may be relative only in a flag, which is typed in some folder", () => {
    expect(load({ flags: { "log.file": "logs/a.log" } }).log.file).toBe("/here/logs/a.log");
    expect(refusal({ variables: { MEMORYD_LOG_FILE: "a.log" } }).message).toMatch(/absolute/);
    expect(refusal({ file: { log: { file: "a.log" } } }).message).toMatch(/absolute/);
  });
});

describe("the defaults", () => {
  test("need nothing: loopback, the socket, a token, the database in the data folder", () => {
    const { listen, access, database, daemon, memory, paths } = load({});
    expect(listen).toEqual({
      tcp: true,
      host: "127.0.0.1",
      port: 7411,
      isDefault: true,
      portFallback: false,
      socket: true,
    });
    expect(access).toEqual({ allowHost: [], allowOrigin: [], insecureNoAuth: false, behindProxy: false });
    expect(database.url).toBe(`sqlite:${folder}/memoryd.db`);
    expect(paths.databaseFile).toBe(`${folder}/memoryd.db`);
    expect(daemon).toEqual({ idleExitSeconds: 0, exitWithParent: false, stopGraceMs: 5_000 });
    expect(memory).toEqual({
      defaultWorkspace: "default",
      maxRecords: 10_000,
      maxWorkspaces: 1_000,
      revisionsPerRecord: 100,
      deletedKeepDays: 365,
      pinWorkspace: true,
    });
  });

  test("say whether somebody chose the address, even the same one", () => {
    expect(load({ flags: { "listen.address": "127.0.0.1:7411" } }).listen.isDefault).toBe(false);
  });
});

describe("the configuration", () => {
  test("is frozen all the way down", () => {
    const frozen = (value: unknown): boolean =>
      typeof value !== "object" ||
      value === null ||
      (Object.isFrozen(value) && Object.values(value).every(frozen));
    expect(frozen(load({ flags: { "access.allow_host": ["a"] } }))).toBe(true);
  });

  test("keeps an in-memory database out of the paths", () => {
    const config = load({ flags: { "database.url": "sqlite::memory:" } });
    expect([config.database.url, config.paths.databaseFile]).toEqual(["sqlite::memory:", undefined]);
  });

  test.each([
    ["sqlite:/a/b.db", "/a/b.db"],
    ["sqlite:///a/../b.db", "/b.db"],
  ])("reads %s as the file %s", (url, file) => {
    expect(load({ flags: { "database.url": url } }).paths.databaseFile).toBe(file);
  });

  test("reads a Windows path as one", () => {
    const flags = { data_dir: "C:\\one", "database.url": "sqlite:D:\\data\\memoryd.db" };
    expect(loadConfig({ flags, environment: win32() }).paths.databaseFile).toBe("D:\\data\\memoryd.db");
  });
});

const badValues: readonly (readonly [key: string, values: readonly unknown[], legal: RegExp])[] = [
  ["data_dir", ["", 7, "a\0b"], /must be a path/],
  [
    "database.url",
    ["postgres://h/db", "/a.db", "sqlite:a.db", "sqlite:", "sqlite:/a/", "sqlite:/a?x"],
    /SQLite only/,
  ],
  [
    "listen.address",
    ["", ":80", "7411", "127.0.0.1", "h:65536", "::1:80", "[127.0.0.1]:80", "http://h:1"],
    /host:port/,
  ],
  ["listen.tcp", ["yes", "", 1, null], /true or false/],
  [
    "access.allow_host",
    [["http://h"], ["h:80"], ["[::1]:80"], ["a/b"], [""], [7], ["*"], ["a", "-b"]],
    /a host name or an address/,
  ],
  ["access.allow_origin", [["*"], ["null"], ["h"], ["http://h/path"], ["ftp://h"]], /an origin such as/],
  ["memory.default_workspace", ["", "Ab", "a--b", "-a", "x".repeat(129)], /words joined by single hyphens/],
  [
    "memory.max_records",
    ["0", "1000001", "1.5", "1e3", "-1", "", " 1", "01", Number.NaN],
    /from 1 to 1000000/,
  ],
  ["memory.revisions_per_record", ["9", "10001"], /from 10 to 10000/],
  ["memory.deleted_keep_days", ["-1"], /from 0 to/],
  ["log.level", ["verbose", "INFO", ""], /one of debug, info, warn, error/],
  ["log.format", ["xml"], /one of auto, json, pretty/],
  ["daemon.idle_exit_seconds", ["-1", "soon"], /whole number of seconds/],
  [
    "client.url",
    ["h:1", "ftp://h", "http://u:p@h", "http://h/?token=x", "http://h/#x"],
    /http:\/\/ or https:/,
  ],
  [
    "client.token",
    ["short", "two words, and long enough", "line\nbreak is no part of it"],
    /one line of 16 to 512/,
  ],
  ["client.workspace", ["a b"], /single hyphens/],
  ["client.start_timeout_ms", ["99", "600001"], /from 100 to 600000/],
];

describe("what is not legal", () => {
  test.each(badValues)(
    "for %s is refused, and what is legal said, without the value",
    (key, values, legal) => {
      for (const value of values) {
        const error = refusal({ flags: { [key]: value } });
        expect(error).toMatchObject({ code: "invalid_argument", reason: "INVALID_CONFIGURATION" });
        expect(error.violations.map(({ field }) => field)).toEqual([key]);
        expect(error.message).toMatch(legal);
        expect(error.message).not.toContain("h/db");
        expect(error.message).not.toContain("u:p@h");
        expect(error.message).not.toContain("two words");
      }
    },
  );

  test("names the place where it was written", () => {
    const place = (sources: Sources): string => refusal(sources).message;
    expect(place({ flags: { "log.level": "x" } })).toContain("log.level (from --log-level) must be");
    expect(place({ variables: { MEMORYD_LOG_LEVEL: "x" } })).toContain(
      "log.level (from MEMORYD_LOG_LEVEL) must",
    );
    expect(place({ file: { log: { level: "x" } } })).toContain(
      `log.level (in ${folder}/config.json) must be`,
    );
  });

  test("is told all at once", () => {
    const flags = { "log.level": "x" };
    const variables = { MEMORYD_LISTEN_TCP: "perhaps", MEMORYD_LSITEN_TCP: "true" };
    const file = { memory: { max_records: "10" }, colour: "blue" };
    const fields = refusal({ flags, variables, file }).violations.map(({ field }) => field);
    expect(new Set(fields)).toEqual(
      new Set(["log.level", "listen.tcp", "MEMORYD_LSITEN_TCP", "memory.max_records", "colour"]),
    );
  });

  test("has JSON's own types in the file: no number or boolean in quotes", () => {
    expect(refusal({ file: { memory: { max_records: "10" } } }).message).toMatch(/whole number/);
    expect(refusal({ file: { listen: { tcp: "true" } } }).message).toMatch(/true or false/);
    expect(refusal({ file: { access: { allow_host: "a,b" } } }).message).toMatch(/a list in the file/);
  });
});

describe("an unknown name", () => {
  test.each([
    [
      { variables: { MEMORYD_LOG_LEVLE: "x" } },
      /MEMORYD_LOG_LEVLE is no variable.*MEMORYD_LOG_LEVEL is meant/,
    ],
    [{ file: { log: { levle: "x" } } }, /log\.levle \(in .*\) is no option; perhaps log\.level is meant/],
    [{ file: { max_records: 5 } }, /perhaps memory\.max_records is meant/],
    [{ file: { logging: { "very.different": 1 } } }, /memoryd serve --help lists/],
    [{ flags: { "listen.adress": "x" } }, /perhaps listen\.address is meant/],
    [
      { file: { client: { token: "0123456789abcdef" } } },
      /client\.token .*cannot be set there; use MEMORYD_TOKEN/,
    ],
    [{ file: { data_dir: "/x" } }, /data_dir .*cannot be set there; use MEMORYD_DATA_DIR/],
    [{ file: { log: { level: "info" }, "log.level": "warn" } }, /log\.level .* is set twice/],
  ])("is refused with the nearest known one: %j", (sources, message) => {
    expect(refusal(sources).message).toMatch(message);
  });

  test("is nobody's business when it is not ours", () => {
    expect(load({ variables: { XDG_MENU_PREFIX: "x", APPDATA: "y" } }).log.level).toBe("info");
  });
});

test.each([
  ["not JSON", "{", /is not JSON/],
  ["a list", "[]", /must hold one JSON object/],
  ["null", "null", /must hold one JSON object/],
])("a file that holds %s is refused with its name", (_what, text, message) => {
  const error = refusal({ file: text });
  expect(error.message).toMatch(message);
  expect(error.message).toContain(join(folder, "config.json"));
});

describe("options that do not go together", () => {
  const tls = { "tls.cert": "/c.pem", "tls.key": "/k.pem" };
  const open = { "listen.address": "0.0.0.0:7411" };
  const refused: readonly (readonly [string, object, string])[] = [
    ["nothing to listen on", { "listen.tcp": false, "listen.socket": false }, "listen.tcp"],
    ["a certificate without a key", { "tls.cert": "/c.pem" }, "tls.key"],
    ["a key without a certificate", { "tls.key": "/k.pem" }, "tls.cert"],
    ["another machine's way in without TLS", open, "listen.address"],
    [
      "a name that may be anywhere, without TLS",
      { "listen.address": "box.example.org:80" },
      "listen.address",
    ],
    [
      "no token beyond loopback",
      { ...open, ...tls, "access.insecure_no_auth": true },
      "access.insecure_no_auth",
    ],
    [
      "no token behind a proxy",
      { "access.behind_proxy": true, "access.insecure_no_auth": true },
      "access.insecure_no_auth",
    ],
  ];
  verifies("D22", "are refused: an open address without TLS or a proxy, and no token on one", () => {
    for (const [what, flags, field] of refused) {
      expect([what, refusal({ flags }).violations[0]?.field]).toEqual([what, field]);
    }
  });

  test.each([
    { ...open, ...tls },
    { ...open, "access.behind_proxy": true },
    { ...open, "listen.tcp": false },
    { "listen.address": "localhost:1", "access.insecure_no_auth": true },
    { "listen.address": "[::ffff:127.0.0.1]:1" },
    { "listen.address": "127.8.9.1:1" },
  ])("are fine otherwise: %j", (flags) => {
    expect(load({ flags }).listen).toBeDefined();
  });
});

describe("a secret", () => {
  const token = "a-token-that-nobody-may-see";
  const variables = { MEMORYD_TOKEN: token, MEMORYD_DATABASE_URL: "sqlite:/secret/place.db" };

  test("is read", () => {
    expect(load({ variables }).client.token).toBe(token);
  });

  test("is described as ***", () => {
    const described = describeConfig(load({ variables }));
    expect(JSON.stringify(described)).not.toMatch(/nobody-may-see|secret\/place/);
    expect(described.find(({ key }) => key === "client.token")?.value).toBe("***");
  });

  test("that is not set is described as that", () => {
    expect(describeConfig(load({})).find(({ key }) => key === "client.token")?.value).toBeUndefined();
  });
});

test("a daemon that inherits the variables of a configuration and its folder loads the same", () => {
  const flags = {
    "listen.address": "[::1]:0",
    "access.allow_host": ["a.example.org", "b.example.org"],
    "access.allow_origin": ["https://tools.example.org"],
    "log.file": "relative.log",
    "memory.max_records": "77",
    "listen.socket": false,
    "database.url": "sqlite::memory:",
  };
  const wanted = load({ flags, file: { memory: { max_records: 5 }, log: { level: "debug" } } });
  expect(load({ variables: daemonVariablesFrom(wanted) })).toEqual(wanted);
  const automatic = load({ file: {} });
  expect(load({ variables: daemonVariablesFrom(automatic) })).toEqual(automatic);
});
