/** What a request meets at the door, from its id to its route (daemon.md D4, D15, D16, D18–D23). */
import { request as httpRequest } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { createClient } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { describe, expect, test } from "vitest";
import { MemoryService } from "../../gen/magus/memory/v1/memory_pb.js";
import { isProof } from "../../src/config/proof.js";
import { until } from "../support/until.js";
import { sendHttp2, sendRaw } from "./raw.js";
import { answersNormally, startTestServer, type TestServer, token } from "./support.js";

const bearer = { authorization: `Bearer ${token}` };
const rpcPath = "/magus.memory.v1.MemoryService/GetCursor";

type Sent = { method?: string; headers?: Record<string, string>; body?: string };

/** A request with any Host and Origin, which `fetch` would not send. */
function ask(
  server: TestServer,
  path: string,
  { method = "GET", headers = {}, body }: Sent = {},
  socketPath?: string,
) {
  return new Promise<{ status: number; headers: Record<string, unknown>; text: string }>(
    (resolve, reject) => {
      const at = socketPath === undefined ? { host: "127.0.0.1", port: server.port } : { socketPath };
      const request = httpRequest({ ...at, path, method, headers }, (response) => {
        let text = "";
        response.on("data", (chunk) => {
          text += chunk;
        });
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
        );
      });
      request.on("error", reject).end(body);
    },
  );
}

const call = (server: TestServer, headers: Record<string, string>, socketPath?: string) =>
  ask(
    server,
    rpcPath,
    { method: "POST", headers: { "content-type": "application/json", ...headers }, body: "{}" },
    socketPath,
  );

describe("the order of the guards", () => {
  test("a foreign Host is refused before Origin, token and path are looked at (D18)", async () => {
    const server = await startTestServer();
    for (const path of ["/livez", "/nothing", rpcPath]) {
      const headers = { host: "evil.example", origin: "https://evil.example", ...bearer };
      const answer = await ask(server, path, { headers });
      expect(answer.status).toBe(403);
      expect(JSON.parse(answer.text)).toMatchObject({ code: "permission_denied" });
      expect(answer.text).toContain("HOST_FOREIGN");
      expect(answer.headers).not.toHaveProperty("access-control-allow-origin");
    }
  });

  test("names listed in the configuration are answered to", async () => {
    const server = await startTestServer({ flags: { "access.allow_host": ["notes.example"] } });
    expect((await call(server, { host: "notes.example", ...bearer })).status).toBe(200);
    expect((await call(server, { host: "other.example", ...bearer })).status).toBe(403);
  });

  test.each(["null", "https://evil.example", "http://localhost:1", "%%%"])(
    "a page of the origin %s is refused, with a good token and in a preflight (D19)",
    async (origin) => {
      const server = await startTestServer();
      const refused = await call(server, { origin, ...bearer });
      expect(refused.status).toBe(403);
      expect(refused.text).toContain("ORIGIN_FOREIGN");
      const headers = { origin, "access-control-request-method": "POST" };
      const preflight = await ask(server, rpcPath, { method: "OPTIONS", headers });
      expect(preflight.status).toBe(403);
      expect(preflight.headers).not.toHaveProperty("access-control-allow-origin");
    },
  );

  test("a page of an allowed origin is named in every answer, and its preflight needs no token (D19)", async () => {
    const origin = "https://tools.example";
    const server = await startTestServer({ flags: { "access.allow_origin": [origin] } });
    const preflight = await ask(server, rpcPath, {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "POST" },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers).toMatchObject({ "access-control-allow-origin": origin, vary: "Origin" });
    expect(preflight.headers["access-control-allow-headers"]).toContain("memoryd-if-match");
    for (const [headers, status] of [
      [bearer, 200],
      [{}, 401],
    ] as const) {
      const answer = await call(server, { origin, ...headers });
      expect(answer.status).toBe(status);
      expect(answer.headers).toMatchObject({ "access-control-allow-origin": origin });
      expect(answer.headers["access-control-expose-headers"]).toContain("memoryd-etag");
    }
  });

  test("the daemon's own page may call it", async () => {
    const server = await startTestServer();
    const own = `127.0.0.1:${server.port}`;
    expect((await call(server, { host: own, origin: `http://${own}`, ...bearer })).status).toBe(200);
  });
});

describe("tokens", () => {
  const wrong = [
    {},
    { authorization: "Bearer wrong" },
    { authorization: `Basic ${token}` },
    { "x-api-key": token },
  ];

  test("missing, malformed and wrong ones look the same (D20)", async () => {
    const server = await startTestServer();
    const answers = await Promise.all(
      wrong.map((headers) => call(server, headers as Record<string, string>)),
    );
    for (const { status, headers, text } of answers) {
      expect(status).toBe(401);
      expect(headers["www-authenticate"]).toMatch(/^Bearer/);
      expect(text).toBe(answers[0]?.text);
    }
    expect(JSON.parse(answers[0]?.text ?? "")).toMatchObject({ code: "unauthenticated" });
  });

  test("one in the URL does not count", async () => {
    const server = await startTestServer();
    const path = `/status?access_token=${token}&token=${token}`;
    expect((await ask(server, path)).status).toBe(401);
    expect(JSON.stringify(server.lines)).not.toContain(token);
  });

  test("paths that exist and paths that do not look the same without one (D23)", async () => {
    const server = await startTestServer();
    const paths = [
      "/status",
      "/metrics",
      "/stop",
      "/",
      "/nothing",
      rpcPath,
      "/magus.memory.v1.MemoryService/Nothing",
    ];
    const answers = await Promise.all(paths.map((path) => ask(server, path)));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(401);
  });

  test("over the socket none is needed, but a wrong one is refused (D21)", async () => {
    const server = await startTestServer();
    expect((await call(server, {}, server.socket)).status).toBe(200);
    expect((await call(server, bearer, server.socket)).status).toBe(200);
    expect((await call(server, { authorization: "Bearer wrong" }, server.socket)).status).toBe(401);
  });

  test("what a client of the socket sends as Host does not matter", async () => {
    const server = await startTestServer();
    for (const host of ["[", "", "%2Ftmp%2Fx.sock", "evil.example"]) {
      expect((await call(server, { host }, server.socket)).status).toBe(200);
    }
  });

  test("with --insecure-no-auth everybody is let in, and the log says so; Host and Origin still count (D21)", async () => {
    const server = await startTestServer({
      flags: { "access.insecure_no_auth": true },
      parts: { operatorToken: undefined },
    });
    expect((await call(server, {})).status).toBe(200);
    expect((await call(server, { host: "evil.example" })).status).toBe(403);
    expect((await call(server, { origin: "https://evil.example" })).status).toBe(403);
    expect(server.lines.find(({ level }) => level === "warn")?.message).toContain("--insecure-no-auth");
  });

  test("wrong ones are answered more slowly after the fifth, right ones are not (D23)", async () => {
    const server = await startTestServer();
    for (let tries = 0; tries < 5; tries += 1) await call(server, { authorization: "Bearer wrong" });
    const answered: string[] = [];
    const slowed = call(server, { authorization: "Bearer wrong" }).then(() => answered.push("wrong"));
    await call(server, bearer).then(() => answered.push("right"));
    await slowed;
    expect(answered).toEqual(["right", "wrong"]);
  });

  test("behind a proxy they are counted by the address that the proxy names, else by the connection's (D23)", async () => {
    const guess = (server: TestServer, forwarded: string) =>
      call(server, { authorization: "Bearer wrong", "x-forwarded-for": forwarded });
    const tookMs = async (run: () => Promise<unknown>) => {
      const startedMs = performance.now();
      await run();
      return performance.now() - startedMs;
    };
    const proxied = await startTestServer({ flags: { "access.behind_proxy": true } });
    for (let tries = 0; tries < 8; tries += 1) await guess(proxied, "10.0.0.9, 203.0.113.1");
    expect(await tookMs(() => guess(proxied, "10.0.0.9, 203.0.113.1"))).toBeGreaterThan(700);
    expect(await tookMs(() => guess(proxied, "203.0.113.1, 203.0.113.2"))).toBeLessThan(700);
    const direct = await startTestServer();
    for (let tries = 0; tries < 8; tries += 1) await guess(direct, `203.0.113.${tries}`);
    expect(await tookMs(() => guess(direct, "203.0.113.99"))).toBeGreaterThan(700);
  });

  test("a crowd of wrong ones is turned away without slowing who has the right one (D23)", async () => {
    const server = await startTestServer();
    const crowd = Promise.all(
      Array.from({ length: 300 }, async () => (await call(server, { authorization: "Bearer wrong" })).status),
    );
    expect((await call(server, bearer)).status).toBe(200);
    const statuses = new Set(await crowd);
    expect(statuses).toEqual(new Set([401, 429]));
  });

  test("who goes away while its answer is slowed leaves the server answering", async () => {
    const server = await startTestServer();
    for (let tries = 0; tries < 6; tries += 1) await call(server, { authorization: "Bearer wrong" });
    const head = `POST ${rpcPath} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer wrong\r\nContent-Length: 0\r\n\r\n`;
    await sendRaw(server.port, [head], { timeoutMs: 50 });
    const session = connectHttp2(server.url ?? "");
    await new Promise((resolve) => session.once("connect", resolve));
    const stream = session.request({ ":method": "POST", ":path": rpcPath, authorization: "Bearer wrong" });
    stream.on("error", () => {});
    await new Promise((resolve) => session.ping((...told) => resolve(told)));
    session.destroy();
    await until(
      "all are over",
      () => server.lines.filter(({ message }) => message === "request").length === 8,
    );
    expect(await answersNormally(server.port)).toBe(true);
    expect(server.lines.filter(({ level }) => level === "error")).toEqual([]);
  });

  test("a large request that is refused leaves its HTTP/2 connection good for the next", async () => {
    const server = await startTestServer();
    const client = createClient(MemoryService, createGrpcTransport({ baseUrl: server.url ?? "" }));
    const memory = { body: "x".repeat(6 * 1024 * 1024) };
    for (let round = 0; round < 3; round += 1) {
      await expect(client.updateMemory({ memory })).rejects.toThrow(/^\[unauthenticated\]/);
    }
    expect((await client.getCursor({}, { headers: bearer })).content).toBe("here");
  });

  test("every client of the RPC protocols is told in its own words what is missing", async () => {
    const server = await startTestServer();
    const baseUrl = server.url ?? "";
    for (const transport of [
      createConnectTransport({ baseUrl, httpVersion: "1.1" }),
      createConnectTransport({ baseUrl, httpVersion: "2", useBinaryFormat: false }),
      createGrpcTransport({ baseUrl }),
      createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
    ]) {
      const refused = createClient(MemoryService, transport).getCursor({});
      await expect(refused).rejects.toThrow(/^\[unauthenticated\] Send a valid token/);
    }
    const streaming = await sendHttp2(server.port, {
      "content-type": "application/connect+json",
      authorization: "",
    });
    expect(streaming).toMatchObject({
      status: 200,
      headers: { "www-authenticate": 'Bearer realm="memoryd"' },
    });
    expect(streaming.body.charCodeAt(0)).toBe(2);
    expect(JSON.parse(streaming.body.slice(5))).toMatchObject({ error: { code: "unauthenticated" } });
  });
});

describe("request ids (D16)", () => {
  test("a client's own is kept in the answer and in the log when it is plain, else one is made", async () => {
    const server = await startTestServer();
    const kept = await call(server, { "x-request-id": "trace-1.a:b_C", ...bearer });
    expect(kept.headers["x-request-id"]).toBe("trace-1.a:b_C");
    for (const sent of ["", "two words", "<script>", "x".repeat(65)]) {
      const answer = await call(server, { "x-request-id": sent, ...bearer });
      expect(answer.headers["x-request-id"]).toMatch(/^[0-9a-f]{16}$/);
    }
    expect(server.lines.map(({ fields }) => fields.requestId)).toContain("trace-1.a:b_C");
  });

  test("refusals carry one too", async () => {
    const server = await startTestServer();
    for (const headers of [{ host: "evil.example" }, {}] as const) {
      const answer = await call(server, headers as Record<string, string>);
      expect(answer.headers["x-request-id"]).toMatch(/^[0-9a-f]{16}$/);
    }
    const { text } = await sendRaw(server.port, ["GET / HTTP/1.0\r\n\r\n"]);
    expect(text).toMatch(/x-request-id: [0-9a-f]{16}\r\n/);
  });
});

describe("routes", () => {
  test("/livez proves the token to who asks, and says nothing else (D4, D15)", async () => {
    const server = await startTestServer();
    const plain = await ask(server, "/livez");
    expect(plain).toMatchObject({ status: 200, text: '{"status":"live"}\n' });
    expect(plain.headers).not.toHaveProperty("memoryd-proof");
    const challenged = await ask(server, "/livez", { headers: { "memoryd-challenge": "random-text" } });
    const proof = challenged.headers["memoryd-proof"];
    expect(typeof proof === "string" && isProof(proof, token, "random-text")).toBe(true);
    expect(challenged.headers["memoryd-instance"]).toBe("instance-of-the-test");
    expect((await ask(server, "/livez", { method: "HEAD" })).text).toBe("");
  });

  test("/readyz names the failing component and nothing of its failure (D15)", async () => {
    let isBroken = false;
    const server = await startTestServer({
      parts: {
        components: [
          { name: "clock", check: async () => {} },
          {
            name: "storage",
            check: async () => {
              if (isBroken) throw new Error("the disk at some path is full");
            },
          },
        ],
      },
    });
    expect(await ask(server, "/readyz")).toMatchObject({ status: 200, text: '{"status":"ready"}\n' });
    isBroken = true;
    let answer = await ask(server, "/readyz");
    for (
      const deadline = performance.now() + 5_000;
      answer.status === 200 && performance.now() < deadline;
    ) {
      answer = await ask(server, "/readyz");
    }
    expect(answer).toMatchObject({ status: 503, text: '{"status":"unavailable","component":"storage"}\n' });
  });

  test("/status answers what the daemon says of itself, with a token", async () => {
    const server = await startTestServer({
      parts: { status: async () => ({ engine: "sqlite", records: 3 }) },
    });
    const answer = await ask(server, "/status", { headers: bearer });
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toEqual({ engine: "sqlite", records: 3 });
    expect(answer.headers["cache-control"]).toBe("no-store");
  });

  test("a failure inside shows a fixed sentence, and its cause only in the log", async () => {
    const server = await startTestServer({
      parts: {
        status: async () => {
          throw new Error("a cause that nobody outside sees");
        },
      },
    });
    const answer = await ask(server, "/status", { headers: bearer });
    expect(answer.status).toBe(500);
    expect(answer.text).not.toContain("nobody outside");
    const line = server.lines.find(({ level }) => level === "error");
    expect(line?.fields).toMatchObject({ requestId: answer.headers["x-request-id"] });
    expect(String(line?.fields.error)).toContain("nobody outside");
  });

  test("/stop asks for the end, with POST and the right to it", async () => {
    const server = await startTestServer();
    expect((await ask(server, "/stop", { headers: bearer })).status).toBe(405);
    const answer = await ask(server, "/stop", { method: "POST", headers: bearer });
    expect(answer).toMatchObject({ status: 202, text: '{"status":"stopping"}\n' });
    await server.stopRequested;
  });

  test("/stop and /status need their right", async () => {
    const server = await startTestServer({ parts: { operator: { user: "bo", right: "read" } } });
    expect((await ask(server, "/status", { headers: bearer })).status).toBe(200);
    expect((await ask(server, "/stop", { method: "POST", headers: bearer })).status).toBe(403);
  });

  test.each([
    ["/livez", "POST", "GET, HEAD"],
    ["/status", "DELETE", "GET, HEAD"],
    ["/stop", "PUT", "POST"],
    [rpcPath, "GET", "POST"],
    [rpcPath, "PUT", "POST"],
  ])("%s does not take %s (D23)", async (path, method, allowed) => {
    const server = await startTestServer();
    const answer = await ask(server, path, { method, headers: bearer });
    expect(answer.status).toBe(405);
    expect(answer.headers.allow).toBe(allowed);
  });

  test.each(["/", "/nothing", "/livez/", "/LIVEZ", "/magus.memory.v1.MemoryService/", "/%6civez"])(
    "%s is not found (D23)",
    async (path) => {
      const server = await startTestServer();
      const answer = await ask(server, path, { headers: bearer });
      expect(answer.status).toBe(404);
      expect(JSON.parse(answer.text)).toMatchObject({ code: "unimplemented" });
    },
  );
});
