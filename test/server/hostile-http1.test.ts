/**
 * HTTP/1.1 requests that nobody in good standing sends (daemon.md D12, D14, D23): each is answered or closed,
 * and the server answers a normal call afterwards. The first two end a bare connect-node server at once.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callHead, type RawOptions, sendRaw } from "./raw.js";
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

const secret = "the-marker-that-no-answer-repeats";
const tooMuch = Buffer.alloc(5 * 1024 * 1024, " ");
const bombBytes = Buffer.alloc(64 * 1024 * 1024);
const path = "/magus.memory.v1.MemoryService/GetCursor";

const body = (bytes: Uint8Array | string): readonly (string | Uint8Array)[] => [
  `${callHead()}Content-Length: ${Buffer.byteLength(bytes)}\r\n\r\n`,
  bytes,
];

const firstAnswer: RawOptions = { until: (text) => /\r\n\r\n.*\}\n?$/s.test(text) };

type RawCase = {
  readonly name: string;
  readonly chunks: () => readonly (string | Uint8Array)[];
  /** What the answer holds; `""` when the connection is closed without one. */
  readonly answer: RegExp | "";
  readonly options?: RawOptions;
};

const rawCases: readonly RawCase[] = [
  {
    name: "Host: [",
    chunks: () => [`POST ${path} HTTP/1.1\r\nHost: [\r\nContent-Length: 0\r\n\r\n`],
    answer: /^HTTP\/1\.1 400 .*HOST_MALFORMED/s,
    options: firstAnswer,
  },
  {
    name: "HTTP/1.0 without Host",
    chunks: () => [`POST ${path} HTTP/1.0\r\nContent-Length: 0\r\n\r\n`],
    answer: /^HTTP\/1\.1 400 .*HOST_MALFORMED/s,
  },
  {
    name: "HTTP/1.1 without Host",
    chunks: () => [`POST ${path} HTTP/1.1\r\nContent-Length: 0\r\n\r\n`],
    answer: /^HTTP\/1\.1 400 /,
  },
  {
    name: "a Host that is a loopback name only as a URL",
    chunks: () => [`POST ${path} HTTP/1.1\r\nHost: evil.example@localhost\r\nContent-Length: 0\r\n\r\n`],
    answer: /^HTTP\/1\.1 400 .*HOST_MALFORMED/s,
    options: firstAnswer,
  },
  {
    name: "20 KiB of header",
    chunks: () => [`${callHead()}X-Large: ${"x".repeat(20_000)}\r\n\r\n`],
    answer: /^HTTP\/1\.1 431 /,
  },
  {
    name: "a header of many lines",
    chunks: () => [`${callHead()}${"x-name: value\r\n".repeat(5_000)}\r\n`],
    answer: /^HTTP\/1\.1 431 /,
  },
  {
    name: "a body over the limit, with its length",
    chunks: () => body(tooMuch),
    answer: /^HTTP\/1\.1 429 .*"resource_exhausted".*REQUEST_TOO_LARGE/s,
    options: firstAnswer,
  },
  {
    name: "a body over the limit, in chunks",
    chunks: () => [
      `${callHead()}Transfer-Encoding: chunked\r\n\r\n`,
      ...Array.from({ length: 80 }, () => `10000\r\n${"x".repeat(65_536)}\r\n`),
      "0\r\n\r\n",
    ],
    answer: /^HTTP\/1\.1 429 .*"resource_exhausted".*REQUEST_TOO_LARGE/s,
    options: firstAnswer,
  },
  {
    name: "a gzip bomb",
    chunks: () => {
      const bomb = gzipSync(bombBytes);
      return [`${callHead()}Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`, bomb];
    },
    answer: /^HTTP\/1\.1 429 .*REQUEST_TOO_LARGE/s,
    options: firstAnswer,
  },
  {
    name: "a brotli bomb",
    chunks: () => {
      const bomb = brotliCompressSync(bombBytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
      return [`${callHead()}Content-Encoding: br\r\nContent-Length: ${bomb.length}\r\n\r\n`, bomb];
    },
    answer: /^HTTP\/1\.1 429 .*REQUEST_TOO_LARGE/s,
    options: firstAnswer,
  },
  {
    name: "what is no gzip, called gzip",
    chunks: () => [
      `${callHead()}Content-Encoding: gzip\r\nContent-Length: ${secret.length}\r\n\r\n${secret}`,
    ],
    answer: /^HTTP\/1\.1 400 .*REQUEST_UNREADABLE/s,
    options: firstAnswer,
  },
  {
    name: "an unknown compression",
    chunks: () => [`${callHead()}Content-Encoding: ${secret}\r\nContent-Length: 2\r\n\r\n{}`],
    answer: /^HTTP\/1\.1 501 .*accept-encoding: gzip,br.*COMPRESSION_UNKNOWN/is,
    options: firstAnswer,
  },
  {
    name: "a body that ends early",
    chunks: () => [`${callHead()}Content-Length: 100\r\n\r\n{"`],
    answer: /^HTTP\/1\.1 400 /,
    options: { ends: true },
  },
  {
    name: "JSON that is not UTF-8",
    chunks: () => body(Buffer.from([...Buffer.from('{"workspace":"'), 0xff, ...Buffer.from(`${secret}"}`)])),
    answer: /^HTTP\/1\.1 400 .*REQUEST_UNREADABLE/s,
    options: firstAnswer,
  },
  {
    name: "broken JSON",
    chunks: () => body(`{"workspace": ${secret}`),
    answer: /^HTTP\/1\.1 400 .*The body is not JSON.*REQUEST_UNREADABLE/s,
    options: firstAnswer,
  },
  {
    name: "JSON of another type, with the field named",
    chunks: () => [
      `${callHead("UpdateMemory")}Content-Length: 34\r\n\r\n`,
      `{"memory":{"name":["${secret.slice(0, 7)}"]}}`.padEnd(34),
    ],
    answer: /^HTTP\/1\.1 400 .*magus\.memory\.v1\.Memory\.name does not fit its type/s,
    options: firstAnswer,
  },
  {
    name: "JSON with a mask that is a list, with an example of one",
    chunks: () => [
      `${callHead("UpdateMemory")}Content-Length: 33\r\n\r\n`,
      `{"updateMask":{"paths":["body"]}}`,
    ],
    answer: /^HTTP\/1\.1 400 .*FieldMask is one string .*status,body/s,
    options: firstAnswer,
  },
  {
    name: "JSON nested a million deep",
    chunks: () => body(`{"x":${"[".repeat(1_000_000)}`),
    answer: /^HTTP\/1\.1 400 .*REQUEST_UNREADABLE/s,
    options: firstAnswer,
  },
  {
    name: "an empty body",
    chunks: () => body(""),
    answer: /^HTTP\/1\.1 400 .*The body is not JSON.*REQUEST_UNREADABLE/s,
    options: firstAnswer,
  },
  {
    name: "protobuf that is none",
    chunks: () => [
      callHead().replace("application/json", "application/proto"),
      `Content-Length: 8\r\n\r\n`,
      Buffer.alloc(8, 0xff),
    ],
    answer: /^HTTP\/1\.1 400 .*"invalid_argument".*REQUEST_UNREADABLE/s,
    options: firstAnswer,
  },
  {
    name: "protobuf with text that is not UTF-8",
    chunks: () => [
      callHead("UpdateCursor").replace("application/json", "application/proto"),
      `Content-Length: 4\r\n\r\n`,
      Buffer.from([0x0a, 0x02, 0xff, 0xfe]),
    ],
    answer: /^HTTP\/1\.1 400 .*"invalid_argument".*REQUEST_UNREADABLE/s,
    options: firstAnswer,
  },
  {
    name: "a content type of nobody",
    chunks: () => [callHead().replace("application/json", "text/html"), "Content-Length: 2\r\n\r\n{}"],
    answer: /^HTTP\/1\.1 415 .*CONTENT_TYPE_UNKNOWN/s,
    options: firstAnswer,
  },
  {
    name: "no content type",
    chunks: () => [
      callHead().replace("Content-Type: application/json\r\n", ""),
      "Content-Length: 2\r\n\r\n{}",
    ],
    answer: /^HTTP\/1\.1 415 .*CONTENT_TYPE_UNKNOWN/s,
    options: firstAnswer,
  },
  ...["-1", "1e3", "soon", "99999999999", ""].map((deadline) => ({
    name: `Connect-Timeout-Ms: ${deadline}`,
    chunks: () => [`${callHead()}Connect-Timeout-Ms: ${deadline}\r\nContent-Length: 2\r\n\r\n{}`],
    answer: /^HTTP\/1\.1 400 .*DEADLINE_MALFORMED/s,
    options: firstAnswer,
  })),
  {
    name: "a deadline that is over at once",
    chunks: () => [`${callHead()}Connect-Timeout-Ms: 0\r\nContent-Length: 2\r\n\r\n{}`],
    answer: /^HTTP\/1\.1 504 .*deadline_exceeded/s,
    options: firstAnswer,
  },
  {
    name: "a Connect GET",
    chunks: () => [
      `GET ${path}?connect=v1&encoding=json&message=%7B%7D HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    ],
    answer: /^HTTP\/1\.1 405 .*allow: POST/is,
    options: firstAnswer,
  },
  ...["DELETE", "PATCH", "TRACE", "OPTIONS", "PROPFIND"].map((verb) => ({
    name: `the verb ${verb} on an RPC`,
    chunks: () => [callHead().replace("POST", verb), "Content-Length: 0\r\n\r\n"],
    answer: /^HTTP\/1\.1 405 .*allow: POST/is,
    options: firstAnswer,
  })),
  {
    name: "a verb that is none",
    chunks: () => ["BREW /pot HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    answer: /^HTTP\/1\.1 400 /,
  },
  {
    name: "CONNECT",
    chunks: () => ["CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    answer: "",
  },
  {
    name: "a request for another server",
    chunks: () => [callHead().replace("POST /", "POST http://evil.example/"), "Content-Length: 2\r\n\r\n{}"],
    answer: /^HTTP\/1\.1 404 /,
    options: firstAnswer,
  },
  {
    name: "two lengths",
    chunks: () => [`${callHead()}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{}`],
    answer: /^HTTP\/1\.1 400 /,
  },
  {
    name: "an expectation that is not ours",
    chunks: () => [`${callHead()}Expect: a-miracle\r\nContent-Length: 2\r\n\r\n{}`],
    answer: /^HTTP\/1\.1 417 /,
    options: { until: (text) => text.includes("\r\n\r\n") },
  },
  {
    name: "an upgrade to a web socket",
    chunks: () => [
      callHead().replace("POST", "GET"),
      "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
    ],
    answer: /^HTTP\/1\.1 405 /,
    options: firstAnswer,
  },
  {
    name: "a TLS greeting in cleartext",
    chunks: () => [Buffer.from("16030100a5010000a10303", "hex")],
    answer: /^HTTP\/1\.1 400 /,
  },
  { name: "noise", chunks: () => [Buffer.alloc(4_096, 0x80)], answer: /^HTTP\/1\.1 400 / },
  { name: "half a preface, then the end", chunks: () => ["PRI * HT"], answer: "", options: { ends: true } },
  {
    name: "a preface, then another protocol",
    chunks: () => ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET / HTTP/1.1\r\n\r\n"],
    answer: /./s,
  },
  { name: "a preface of the wrong colour", chunks: () => ["PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n"], answer: /./s },
];

describe("over HTTP/1.1", () => {
  test.each(rawCases)(
    "$name is refused, and the next call is answered",
    async ({ chunks, answer, options }) => {
      const got = await sendRaw(server.port, chunks(), options);
      if (answer === "") expect(got).toEqual({ text: "", isClosed: true });
      else expect(got.text).toMatch(answer);
      expect(got.text).not.toContain(secret.slice(0, 7));
      expect(await answersNormally(server.port)).toBe(true);
    },
  );

  test("a client that dies in the middle of a call leaves the server answering", async () => {
    const socket = connect(server.port, "127.0.0.1");
    socket.write(`${callHead()}Content-Length: 1000\r\n\r\n{`);
    await new Promise((resolve) => setImmediate(resolve));
    socket.resetAndDestroy();
    expect(await answersNormally(server.port)).toBe(true);
  });
});
