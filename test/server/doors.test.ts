/** Where the daemon listens and where it must not (daemon.md D3, D21, D22): the socket's file, ports, TLS. */
import { generateKeyPairSync } from "node:crypto";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Config } from "../../src/config/load.js";
import { isMemorydError, type MemorydError } from "../../src/kernel/errors.js";
import { silentLog } from "../../src/kernel/log.js";
import { assertMayListen, type OpenDoors, openDoors } from "../../src/server/doors.js";
import { testCertificate, testKey } from "./certificate.js";
import { configFor, recordingLog, startTestServer, temporaryFolder } from "./support.js";

const handlerFor = () => (_request: unknown, response: { end: (text: string) => void }) =>
  response.end("served");

async function open(config: Config, log = silentLog): Promise<OpenDoors> {
  const doors = await openDoors(config, log, handlerFor as never);
  onTestFinished(async () => {
    await doors.close(0);
  });
  return doors;
}

async function failureOf(run: () => unknown): Promise<MemorydError> {
  try {
    await run();
  } catch (error) {
    if (isMemorydError(error)) return error;
    throw error;
  }
  throw new Error("it did not fail");
}

async function listenOn(at: { path: string } | { port: number }): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) =>
    server.listen("path" in at ? at : { ...at, host: "127.0.0.1" }, resolve),
  );
  onTestFinished(() => {
    server.close();
  });
  return server;
}

const portOf = (server: Server): number => {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
};

/** As a daemon leaves it that was killed: bound by a process that is gone. */
async function leaveStaleSocket(file: string): Promise<void> {
  const { execFileSync } = await import("node:child_process");
  const script = `require("node:net").createServer().listen(process.argv[1], () => process.kill(process.pid, "SIGKILL"))`;
  try {
    execFileSync(process.execPath, ["-e", script, file]);
  } catch {
    // It killed itself, as it should.
  }
}

const otherKey = (): string =>
  generateKeyPairSync("ec", { namedCurve: "P-256" })
    .privateKey.export({ type: "pkcs8", format: "pem" })
    .toString();

const socketOf = (config: Config): string => config.paths.socketFile ?? "";
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe("the socket (D3)", () => {
  test("is 0600 in a folder that is 0700, and gone after the end", async () => {
    const config = configFor(join(temporaryFolder(), "instance"));
    const doors = await open(config);
    expect(doors.socket).toBe(socketOf(config));
    expect(modeOf(socketOf(config))).toBe("600");
    expect(modeOf(join(socketOf(config), ".."))).toBe("700");
    await doors.close(0);
    expect(existsSync(socketOf(config))).toBe(false);
  });

  test("a folder that others may enter is closed to them", async () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o755);
    await open(configFor(folder));
    expect(modeOf(folder)).toBe("700");
  });

  test("a folder of our own may lie behind a link", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "real"));
    symlinkSync(join(folder, "real"), join(folder, "link"));
    await open(configFor(join(folder, "link")));
    expect(modeOf(join(folder, "real"))).toBe("700");
  });

  test.runIf(process.getuid?.() === 0)("a folder of somebody else is refused, by a link too", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "theirs"));
    chownSync(join(folder, "theirs"), 65_534, 65_534);
    symlinkSync(join(folder, "theirs"), join(folder, "link"));
    for (const name of ["theirs", "link"]) {
      const failure = await failureOf(() => open(configFor(join(folder, name))));
      expect(failure).toMatchObject({ code: "unavailable", reason: "SOCKET_FOLDER_FOREIGN" });
    }
  });

  test("that of a dead daemon is replaced", async () => {
    const config = configFor(temporaryFolder());
    await leaveStaleSocket(socketOf(config));
    expect(lstatSync(socketOf(config)).isSocket()).toBe(true);
    expect((await open(config)).socket).toBe(socketOf(config));
  });

  test("that of somebody alive is left alone, and said so", async () => {
    const config = configFor(temporaryFolder());
    const owner = await listenOn({ path: socketOf(config) });
    const failure = await failureOf(() => open(config));
    expect(failure).toMatchObject({ code: "unavailable", reason: "SOCKET_TAKEN" });
    expect(failure.message).toContain("--no-socket");
    expect(owner.listening && lstatSync(socketOf(config)).isSocket()).toBe(true);
  });

  test.each(["file", "folder", "link"])("a %s in its place is never deleted", async (kind) => {
    const config = configFor(temporaryFolder());
    const path = socketOf(config);
    if (kind === "file") writeFileSync(path, "precious");
    else if (kind === "folder") mkdirSync(path);
    else symlinkSync("/nowhere", path);
    expect((await failureOf(() => open(config))).reason).toBe("SOCKET_PATH_TAKEN");
    expect(lstatSync(path).isSocket()).toBe(false);
    if (kind === "file") expect(readFileSync(path, "utf8")).toBe("precious");
  });

  test("one whose path is over 103 bytes is not bound; TCP serves alone, and a sentence says so", async () => {
    const config = configFor(temporaryFolder());
    const socketFile = join(config.paths.stateDir, "x".repeat(100 - config.paths.stateDir.length), "abc");
    expect(socketFile.length).toBeGreaterThan(103);
    const { log, lines } = recordingLog();
    const doors = await open({ ...config, paths: { ...config.paths, socketFile } }, log);
    expect(doors.socket).toBeUndefined();
    expect(doors.url).toMatch(/^http:/);
    expect(lines.map(({ message }) => message)).toEqual([expect.stringContaining("103 bytes")]);
    expect(existsSync(socketFile)).toBe(false);
  });
});

describe("the port (D3)", () => {
  test("either door may be left out, but not both", async () => {
    const onlySocket = await open(configFor(temporaryFolder(), { "listen.tcp": false }));
    expect(onlySocket).toMatchObject({ url: undefined, socket: expect.any(String) });
    const onlyTcp = await open(configFor(temporaryFolder(), { "listen.socket": false }));
    expect(onlyTcp).toMatchObject({ url: expect.any(String), socket: undefined });
    const config = configFor(temporaryFolder());
    const neither = { ...config, listen: { ...config.listen, tcp: false, socket: false } };
    expect((await failureOf(() => open(neither))).reason).toBe("NOTHING_TO_LISTEN_ON");
  });

  test("when it is taken, the sentence names it, who has it and what to do; nothing stays open", async () => {
    const port = portOf(await listenOn({ port: 0 }));
    const config = configFor(temporaryFolder(), { "listen.address": `127.0.0.1:${port}` });
    const failure = await failureOf(() => open(config));
    expect(failure).toMatchObject({ code: "unavailable", reason: "PORT_TAKEN" });
    expect(failure.message).toContain(`Port ${port}`);
    expect(failure.message).toContain("--port-fallback");
    if (process.platform === "linux") expect(failure.message).toContain(`(process ${process.pid})`);
    expect(existsSync(socketOf(config))).toBe(false);
  });

  test("when another memoryd has it, the sentence says that", async () => {
    const { port } = await startTestServer();
    const config = configFor(temporaryFolder(), { "listen.address": `127.0.0.1:${port}` });
    const failure = await failureOf(() => open(config));
    expect(failure).toMatchObject({ code: "unavailable", reason: "PORT_TAKEN" });
    expect(failure.message).toMatch(/memoryd daemon of another data folder or user.*--url.*--port-fallback/);
  });

  test("with --port-fallback a free one is taken instead", async () => {
    const port = portOf(await listenOn({ port: 0 }));
    const flags = { "listen.address": `127.0.0.1:${port}`, "listen.port_fallback": true };
    const { url } = await open(configFor(temporaryFolder(), flags));
    expect(new URL(url ?? "").port).not.toBe(String(port));
  });

  test("an address that is not this machine's is refused with a sentence", async () => {
    const flags = { "listen.address": "192.0.2.1:0", "access.behind_proxy": true };
    const failure = await failureOf(() => open(configFor(temporaryFolder(), flags)));
    expect(failure).toMatchObject({ code: "unavailable", reason: "CANNOT_LISTEN" });
  });
});

describe("beyond loopback (D21, D22)", () => {
  const tls = { "tls.cert": "/cert.pem", "tls.key": "/key.pem" };
  const proxy = { "access.behind_proxy": true };
  const noAuth = { "access.insecure_no_auth": true };
  test.each([
    ["127.0.0.1:0", {}, undefined],
    ["[::1]:0", {}, undefined],
    ["localhost:0", {}, undefined],
    ["127.0.0.1:0", noAuth, undefined],
    ["127.0.0.1:0", { ...proxy, ...noAuth }, "NO_AUTH_BEYOND_LOOPBACK"],
    ["0.0.0.0:0", {}, "TLS_REQUIRED"],
    ["[::]:0", {}, "TLS_REQUIRED"],
    ["192.0.2.1:0", {}, "TLS_REQUIRED"],
    ["notes.example:0", {}, "TLS_REQUIRED"],
    ["0.0.0.0:0", tls, undefined],
    ["0.0.0.0:0", proxy, undefined],
    ["0.0.0.0:0", { ...tls, ...noAuth }, "NO_AUTH_BEYOND_LOOPBACK"],
    ["0.0.0.0:0", { ...proxy, ...noAuth }, "NO_AUTH_BEYOND_LOOPBACK"],
  ])("%s with %o: %s", async (address, flags, reason) => {
    const config = configFor(temporaryFolder());
    const [host = ""] = address.split(/:(?=\d+$)/);
    const changed: Config = {
      ...config,
      listen: { ...config.listen, host },
      tls: "tls.cert" in flags ? { cert: "/cert.pem", key: "/key.pem" } : config.tls,
      access: {
        ...config.access,
        behindProxy: "access.behind_proxy" in flags,
        insecureNoAuth: "access.insecure_no_auth" in flags,
      },
    };
    if (reason === undefined) assertMayListen(changed);
    else expect((await failureOf(() => assertMayListen(changed))).reason).toBe(reason);
  });

  test("with a certificate the port speaks TLS, and its own page is one of https", async () => {
    const folder = temporaryFolder();
    const cert = join(folder, "cert.pem");
    const key = join(folder, "key.pem");
    writeFileSync(cert, testCertificate);
    writeFileSync(key, testKey);
    const server = await startTestServer({ flags: { "tls.cert": cert, "tls.key": key } });
    expect(server.url).toMatch(/^https:/);
    const session = connectHttp2(server.url ?? "", { rejectUnauthorized: false });
    onTestFinished(() => session.destroy());
    const stream = session.request({ ":path": "/livez", origin: server.url });
    const headers = await new Promise<Record<string, unknown>>((resolve) => stream.once("response", resolve));
    expect(headers[":status"]).toBe(200);
  });

  test.each([
    ["a key in the place of the certificate", testKey, testKey, "TLS_CERTIFICATE_UNUSABLE", "--tls-cert"],
    [
      "a certificate in the place of the key",
      testCertificate,
      testCertificate,
      "TLS_KEY_UNUSABLE",
      "--tls-key",
    ],
    ["a key that is none", testCertificate, "none", "TLS_KEY_UNUSABLE", "--tls-key"],
    ["the key of another certificate", testCertificate, otherKey(), "TLS_KEY_MISMATCH", "--tls-key"],
  ])("%s is a sentence with the option's name", async (_what, certText, keyText, reason, option) => {
    const folder = temporaryFolder();
    const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
    writeFileSync(cert, certText);
    writeFileSync(key, keyText);
    const config = configFor(folder, { "tls.cert": cert, "tls.key": key });
    const failure = await failureOf(() => open(config));
    expect(failure).toMatchObject({ code: "invalid_argument", reason });
    expect(failure.message).toMatch(new RegExp(`^${option} `));
  });

  test("a certificate that cannot be read is a sentence with the option's name", async () => {
    const flags = { "tls.cert": "/nowhere/cert.pem", "tls.key": "/nowhere/key.pem" };
    const failure = await failureOf(() => open(configFor(temporaryFolder(), flags)));
    expect(failure).toMatchObject({ code: "invalid_argument", reason: "TLS_FILE_UNREADABLE" });
    expect(failure.message).toContain("--tls-cert");
  });
});
