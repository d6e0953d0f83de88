/** Finding the running daemon (daemon.md D4): who is believed, and who is never sent a token. */
import { chmodSync, chownSync, symlinkSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer as createNetServer, type Server as NetServer } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { findDaemon } from "../../src/client/find.js";
import { type Discovery, readDiscovery, writeDiscovery } from "../../src/config/discovery.js";
import { challengeHeader, instanceHeader, proofFrom, proofHeader } from "../../src/config/proof.js";
import { ensureOperatorToken, readOperatorToken } from "../../src/config/token.js";
import { testCertificate, testKey } from "../server/certificate.js";
import { until } from "../support/until.js";
import { verifies } from "../support/verifies.js";
import { createInstance, cursorOf, type Instance, runStandIn } from "./support.js";

const startTime = "2026-11-30T12:00:00.000Z";

async function started(instance: Instance, ...how: string[]): Promise<Discovery> {
  runStandIn(instance, ...how);
  return await until("the daemon is ready", () => readDiscovery(instance.config.paths.discoveryFile));
}

/** What a stranger sees of the requests at his port or socket, and answers to `/livez`. */
async function listenAsStranger(
  at: string | number,
  answer: (headers: IncomingHttpHeaders) => Record<string, string>,
): Promise<{ readonly url: string; readonly seen: IncomingHttpHeaders[]; readonly server: Server }> {
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers);
    response.writeHead(200, answer(request.headers)).end("ok");
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) =>
    typeof at === "string" ? server.listen(at, resolve) : server.listen(at, "127.0.0.1", resolve),
  );
  const address = server.address();
  const port = typeof address === "object" ? (address as AddressInfo).port : 0;
  return { url: `http://127.0.0.1:${port}`, seen, server };
}

describe("findDaemon()", () => {
  test("finds none where none ever ran, and makes nothing", async () => {
    expect(await findDaemon(createInstance().config)).toBeUndefined();
  });

  test("prefers the socket, over which no token is sent", async () => {
    const instance = createInstance({ "client.workspace": "here" });
    const { pid, url, socket } = await started(instance);
    using daemon = await findDaemon(instance.config);
    expect(daemon).toMatchObject({ pid, url, socket, version: "0.0.0" });
    expect(await cursorOf(daemon!.transport)).toMatchObject({ pid, authorization: null, workspace: "here" });
    expect(JSON.parse((await daemon!.request("/status")).body)).toEqual({ pid });
  });

  test("takes TCP where there is no socket, with the operator token", async () => {
    const instance = createInstance();
    const { pid, url } = await started(instance, "--no-socket");
    using daemon = await findDaemon(instance.config);
    expect(daemon).toMatchObject({ pid, url, socket: undefined });
    const token = readOperatorToken(instance.config.paths.tokenFile);
    expect(await cursorOf(daemon!.transport)).toMatchObject({
      pid,
      authorization: `Bearer ${token}`,
      workspace: null,
    });
    expect((await daemon!.request("/status")).status).toBe(200);
  });

  test("sends the token that it was given instead, over the socket too", async () => {
    const instance = createInstance({ "client.token": "a-token-of-somebody-else" });
    await started(instance);
    using daemon = await findDaemon(instance.config);
    expect((await cursorOf(daemon!.transport)).authorization).toBe("Bearer a-token-of-somebody-else");
  });

  test("believes a daemon without tokens by its instance, and sends none", async () => {
    const instance = createInstance();
    await started(instance, "--no-socket", "--without-token");
    using daemon = await findDaemon(instance.config);
    expect((await cursorOf(daemon!.transport)).authorization).toBeNull();
  });

  test("finds none where a killed daemon left its files behind", async () => {
    const instance = createInstance();
    const child = runStandIn(instance);
    await until("the daemon is ready", () => readDiscovery(instance.config.paths.discoveryFile));
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("close", resolve));
    expect(readDiscovery(instance.config.paths.discoveryFile)).toBeDefined();
    expect(await findDaemon(instance.config)).toBeUndefined();
  });

  test.each([
    ["the same socket", []],
    ["the same port", ["--no-socket"]],
  ])("finds none where a new daemon at %s has yet to describe itself", async (_where, how) => {
    const instance = createInstance();
    const now = await started(instance, ...how);
    const { discoveryFile } = instance.config.paths;
    writeDiscovery(discoveryFile, { ...now, pid: process.pid, instance: "of-the-one-before" });
    expect(await findDaemon(instance.config)).toBeUndefined();
  });

  test("finds none when the token file was opened to others, rather than trust it", async () => {
    const instance = createInstance();
    await started(instance, "--no-socket");
    chmodSync(instance.config.paths.tokenFile, 0o644);
    expect(await findDaemon(instance.config)).toBeUndefined();
  });
});

describe("a stranger at the port of a dead daemon", () => {
  const leftBehind = (instance: Instance, where: object): void => {
    ensureOperatorToken(instance.config.paths.tokenFile);
    const rest = { pid: process.pid, startTime, version: "1.0.0", instance: "of-the-dead" };
    writeDiscovery(instance.config.paths.discoveryFile, { ...where, ...rest });
  };
  const answers: readonly (readonly [string, (headers: IncomingHttpHeaders) => Record<string, string>])[] = [
    ["nothing", () => ({})],
    ["the instance, which anybody could have asked for", () => ({ [instanceHeader]: "of-the-dead" })],
    ["the challenge itself", (headers) => ({ [proofHeader]: String(headers[challengeHeader]) })],
    [
      "a proof under another token",
      (headers) => ({ [proofHeader]: proofFrom("x", String(headers[challengeHeader])) }),
    ],
    ["a proof of his own challenge", () => ({ [proofHeader]: proofFrom("", "") })],
  ];

  verifies("D4", "is not believed whatever he answers, and never gets the token", async () => {
    for (const [what, answer] of answers) {
      const instance = createInstance();
      const stranger = await listenAsStranger(0, answer);
      leftBehind(instance, { url: stranger.url });
      expect([what, await findDaemon(instance.config)]).toEqual([what, undefined]);
      expect(stranger.seen).toHaveLength(1);
      expect(stranger.seen[0]).not.toHaveProperty("authorization");
      expect(JSON.stringify(stranger.seen)).not.toContain(readOperatorToken(instance.config.paths.tokenFile));
    }
  });

  test("is asked with a new challenge each time, so that an old proof is worth nothing", async () => {
    const instance = createInstance();
    const stranger = await listenAsStranger(0, () => ({}));
    leftBehind(instance, { url: stranger.url });
    await findDaemon(instance.config);
    await findDaemon(instance.config);
    const [first, second] = stranger.seen.map((headers) => headers[challengeHeader]);
    expect(first).toMatch(/^[0-9a-f]{32}$/);
    expect(second).not.toBe(first);
  });

  test("cannot send us elsewhere", async () => {
    const instance = createInstance();
    const elsewhere = await listenAsStranger(0, () => ({}));
    const stranger = createServer((_request, response) => {
      response.writeHead(307, { location: `${elsewhere.url}/livez` }).end();
    });
    await new Promise<void>((resolve) => stranger.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void stranger.close());
    leftBehind(instance, { url: `http://127.0.0.1:${(stranger.address() as AddressInfo).port}` });
    expect(await findDaemon(instance.config)).toBeUndefined();
    expect(elsewhere.seen).toEqual([]);
  });

  test("is not believed on a socket that answers for another instance", async () => {
    const instance = createInstance();
    const socket = `${instance.folder}/other.sock`;
    await listenAsStranger(socket, () => ({ [instanceHeader]: "another" }));
    leftBehind(instance, { socket });
    expect(await findDaemon(instance.config)).toBeUndefined();
  });

  // Only root may give a file away.
  test.runIf(process.getuid?.() === 0)(
    "is not asked at all where somebody else made the socket",
    async () => {
      const instance = createInstance();
      const socket = `${instance.folder}/foreign.sock`;
      const stranger = await listenAsStranger(socket, () => ({ [instanceHeader]: "of-the-dead" }));
      leftBehind(instance, { socket });
      using mine = await findDaemon(instance.config);
      expect(mine).toBeDefined();
      chownSync(socket, 65_534, 65_534);
      expect(await findDaemon(instance.config)).toBeUndefined();
      expect(stranger.seen).toHaveLength(1);
    },
  );

  test("is not asked at all where the socket is a link to somebody's", async () => {
    const instance = createInstance();
    const target = `${instance.folder}/target.sock`;
    const socket = `${instance.folder}/link.sock`;
    const stranger = await listenAsStranger(target, () => ({ [instanceHeader]: "of-the-dead" }));
    symlinkSync(target, socket);
    leftBehind(instance, { socket });
    expect(await findDaemon(instance.config)).toBeUndefined();
    expect(stranger.seen).toEqual([]);
  });
});

describe("with client.url", () => {
  const remote = (url: string, options: object = {}) =>
    createInstance({ "client.url": url, ...options }).config;

  test("the daemon there is used, with the token from its file", async () => {
    const instance = createInstance();
    const { pid, url } = await started(instance);
    const token = readOperatorToken(instance.config.paths.tokenFile);
    using byFile = await findDaemon(remote(url!, { "client.token_file": instance.config.paths.tokenFile }));
    expect(await cursorOf(byFile!.transport)).toMatchObject({ pid, authorization: `Bearer ${token}` });
    using byVariable = await findDaemon(remote(url!, { "client.token": token }));
    expect((await cursorOf(byVariable!.transport)).pid).toBe(pid);
    expect(byVariable).toMatchObject({ url, socket: undefined, pid: undefined });
  });

  test("nobody there is unavailable, and the sentence names the option", async () => {
    const finding = findDaemon(remote("http://127.0.0.1:1"));
    await expect(finding).rejects.toMatchObject({ code: "unavailable", reason: "DAEMON_NOT_FOUND" });
    await expect(finding).rejects.toThrow(/MEMORYD_URL or --url/);
  });

  const tls = { cert: testCertificate, key: testKey };
  const open = async (server: Server | NetServer, scheme: string) => {
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

  test.each<readonly [string, RegExp, () => string | Promise<string>]>([
    ["a port that nobody has", /nobody listens there; start memoryd there/, () => "http://127.0.0.1:1"],
    ["a host that is none", /no host of that name/, () => "http://nowhere.invalid:7411"],
    ["a certificate of its own", /NODE_EXTRA_CA_CERTS/, () => open(createTlsServer(tls), "https")],
    ["TLS where none was expected", /write https:\/\//, () => open(createTlsServer(tls), "http")],
    ["no TLS where it was expected", /write http:\/\//, () => open(createServer(), "https")],
    [
      "another program",
      /somebody else does.* \(HTTP status 200\)/,
      () =>
        open(
          createServer((_, response) => response.end("hello")),
          "http",
        ),
    ],
    [
      "a program that speaks no HTTP",
      /does not answer in HTTP/,
      () =>
        open(
          createNetServer((socket) => socket.end("hello\n")),
          "http",
        ),
    ],
  ])("%s is unavailable, and the sentence says so", async (_what, sentence, there) => {
    const finding = findDaemon(remote(await there()));
    await expect(finding).rejects.toMatchObject({ code: "unavailable", reason: "DAEMON_NOT_FOUND" });
    await expect(finding).rejects.toThrow(sentence);
  });

  test("a token file that others may read is refused before anything is sent", async () => {
    const instance = createInstance();
    const stranger = await listenAsStranger(0, () => ({}));
    ensureOperatorToken(instance.config.paths.tokenFile);
    chmodSync(instance.config.paths.tokenFile, 0o644);
    const config = remote(stranger.url, { "client.token_file": instance.config.paths.tokenFile });
    await expect(findDaemon(config)).rejects.toThrow(/chmod 600/);
    expect(stranger.seen).toEqual([]);
  });
});
