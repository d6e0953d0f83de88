/**
 * HTTP/2 requests that nobody in good standing sends (daemon.md D12, D14, D23): each is answered or closed, and
 * the server answers a normal call afterwards. The first ones end a bare connect-node server at once.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { grpcFrame, type Http2Answer, sendHttp2 } from "./raw.js";
import { answersNormally, openTestServer, type TestServer, token } from "./support.js";

const folder = mkdtempSync(join(tmpdir(), "memoryd-"));
let server: TestServer;

beforeAll(async () => {
  server = await openTestServer(folder);
});

afterAll(async () => {
  await server.stop(0);
  rmSync(folder, { recursive: true, force: true });
});

const path = "/magus.memory.v1.MemoryService/GetCursor";
const tooMuch = Buffer.alloc(5 * 1024 * 1024);
const bombBytes = Buffer.alloc(64 * 1024 * 1024);
const grpc = { "content-type": "application/grpc", te: "trailers" };

type Http2Case = {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: () => readonly Uint8Array[];
  readonly check: (answer: Http2Answer) => void;
};

const hasStatus = (status: number) => (answer: Http2Answer) => expect(answer.status).toBe(status);
/** Where a newer Node knows that no authority looks so, its HTTP/2 resets the stream before we see it. */
const isTurnedAway = (answer: Http2Answer) =>
  expect(answer).toMatchObject(answer.isBroken ? { status: undefined } : { status: 400 });
const hasGrpcStatus = (status: number, reason: RegExp) => (answer: Http2Answer) => {
  expect(answer.status).toBe(200);
  const told = { ...answer.headers, ...answer.trailers };
  expect(told["grpc-status"]).toBe(String(status));
  expect(decodeURIComponent(String(told["grpc-message"]))).toMatch(reason);
};

const http2Cases: readonly Http2Case[] = [
  ...["[", "%2Ftmp%2Fx.sock", "user@localhost", "localhost:99999"].map((authority) => ({
    name: `:authority ${authority}`,
    headers: { ":authority": authority, "content-type": "application/json" },
    check: isTurnedAway,
  })),
  { name: ":authority of somebody else", headers: { ":authority": "evil.example" }, check: hasStatus(403) },
  {
    name: ":authority of ours and a Host of somebody else",
    headers: { ":authority": "localhost", host: "evil.example" },
    check: hasStatus(403),
  },
  {
    name: "20 KiB of header",
    headers: Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`x-${index}`, "x".repeat(1_000)])),
    check: hasStatus(431),
  },
  {
    name: "a frame that ends early",
    headers: grpc,
    body: () => [grpcFrame(Buffer.from([0x0a, 0x01]), { length: 100 })],
    check: hasGrpcStatus(3, /cannot be read/),
  },
  {
    name: "a frame that says it is 4 GiB long",
    headers: grpc,
    body: () => [grpcFrame(new Uint8Array(), { length: 0xffff_ffff })],
    check: hasGrpcStatus(8, /larger than/),
  },
  {
    name: "a frame over the limit",
    headers: grpc,
    body: () => [grpcFrame(tooMuch)],
    check: hasGrpcStatus(8, /larger than/),
  },
  {
    name: "a gzip bomb in a frame",
    headers: { ...grpc, "grpc-encoding": "gzip" },
    body: () => [grpcFrame(gzipSync(bombBytes), { flags: 1 })],
    check: hasGrpcStatus(8, /larger than/),
  },
  {
    name: "a compressed frame without a compression",
    headers: grpc,
    body: () => [grpcFrame(gzipSync("{}"), { flags: 1 })],
    check: hasGrpcStatus(3, /cannot be read/),
  },
  { name: "no frame at all", headers: grpc, check: hasGrpcStatus(12, /exactly one/) },
  {
    name: "two frames for a unary method",
    headers: grpc,
    body: () => [grpcFrame(new Uint8Array()), grpcFrame(new Uint8Array())],
    check: hasGrpcStatus(12, /exactly one/),
  },
  {
    name: "protobuf that is none",
    headers: grpc,
    body: () => [grpcFrame(Buffer.alloc(8, 0xff))],
    check: hasGrpcStatus(3, /cannot be read/),
  },
  {
    name: "the same in gRPC-Web",
    headers: { "content-type": "application/grpc-web+proto" },
    body: () => [grpcFrame(Buffer.alloc(8, 0xff))],
    check: hasGrpcStatus(3, /cannot be read/),
  },
  ...["5", "5x", "-5S", "123456789S", ""].map((deadline) => ({
    name: `grpc-timeout: ${deadline}`,
    headers: { ...grpc, "grpc-timeout": deadline },
    body: () => [grpcFrame(new Uint8Array())],
    check: hasGrpcStatus(3, /grpc-timeout must be/),
  })),
  {
    name: "a method that is not there",
    headers: { ...grpc, ":path": "/magus.memory.v1.MemoryService/Nothing" },
    check: hasGrpcStatus(12, /serves nothing/),
  },
  { name: "no token", headers: { ...grpc, authorization: "" }, check: hasGrpcStatus(16, /Bearer/) },
  { name: "a path that breaks URLs", headers: { ":path": "//[" }, check: hasStatus(404) },
];

describe("over HTTP/2", () => {
  test.each(http2Cases)(
    "$name is refused, and the next call is answered",
    async ({ headers, body, check }) => {
      check(await sendHttp2(server.port, headers, body?.()));
      expect(await answersNormally(server.port)).toBe(true);
    },
  );

  test("no more than 100 streams at once are allowed on a connection", async () => {
    const session = connectHttp2(`http://127.0.0.1:${server.port}`);
    const settings = await new Promise<{ maxConcurrentStreams?: number }>((resolve) =>
      session.once("remoteSettings", resolve),
    );
    session.destroy();
    expect(settings.maxConcurrentStreams).toBe(100);
  });

  test("a thousand streams opened and reset at once leave the server answering", async () => {
    const session = connectHttp2(`http://127.0.0.1:${server.port}`);
    session.on("error", () => {});
    const closed = new Promise((resolve) => session.once("close", resolve));
    for (let count = 0; count < 1_000 && !session.closed && !session.destroyed; count += 1) {
      const stream = session.request({ ":method": "POST", ":path": path, authorization: `Bearer ${token}` });
      stream.on("error", () => {});
      stream.close(8);
    }
    session.close();
    await closed;
    expect(await answersNormally(server.port)).toBe(true);
  });
});
