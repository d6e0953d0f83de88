/** RPCs as clients see them and what handlers are told (daemon.md D12, D14, D26), over every protocol. */
import { connect as connectHttp2 } from "node:http2";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { Code, ConnectError, createClient, type HandlerContext, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { describe, expect, test } from "vitest";
import { MemoryService } from "../../gen/magus/memory/v1/memory_pb.js";
import { MemorydError } from "../../src/kernel/errors.js";
import { callerKey, requestIdKey } from "../../src/wire/context.js";
import { until } from "../support/until.js";
import { callHead, grpcFrame, sendHttp2, sendRaw } from "./raw.js";
import { startTestServer, token } from "./support.js";

const withToken = [
  (next: (request: never) => Promise<never>) => (request: { readonly header: Headers }) => {
    request.header.set("authorization", `Bearer ${token}`);
    return next(request as never);
  },
] as never;

const protocols: Readonly<Record<string, (baseUrl: string) => Transport>> = {
  "Connect JSON on HTTP/1.1": (baseUrl) =>
    createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false, interceptors: withToken }),
  "Connect binary on HTTP/1.1": (baseUrl) =>
    createConnectTransport({ baseUrl, httpVersion: "1.1", interceptors: withToken }),
  "Connect binary on HTTP/2": (baseUrl) =>
    createConnectTransport({ baseUrl, httpVersion: "2", interceptors: withToken }),
  "gRPC on HTTP/2": (baseUrl) => createGrpcTransport({ baseUrl, interceptors: withToken }),
  "gRPC on HTTP/1.1": (baseUrl) =>
    createGrpcTransport({ baseUrl, httpVersion: "1.1", interceptors: withToken } as never),
  "gRPC-Web on HTTP/1.1": (baseUrl) =>
    createGrpcWebTransport({ baseUrl, httpVersion: "1.1", interceptors: withToken }),
  "gRPC-Web on HTTP/2": (baseUrl) =>
    createGrpcWebTransport({ baseUrl, httpVersion: "2", interceptors: withToken }),
};

const path = "/magus.memory.v1.MemoryService/GetCursor";
const memory = { name: "a-record", body: "ä€𝄞" };

describe.each(Object.entries(protocols))("%s", (_name, transportFor) => {
  test("carries a message both ways, and the handler knows who asks", async () => {
    let context: HandlerContext | undefined;
    const server = await startTestServer({
      handlers: {
        updateMemory: (request, handlerContext) => {
          context = handlerContext;
          return request.memory === undefined ? {} : { memory: request.memory };
        },
      },
    });
    const client = createClient(MemoryService, transportFor(server.url ?? ""));
    const answer = await client.updateMemory({ memory }, { headers: { "x-request-id": "mine" } });
    expect(answer.memory).toMatchObject(memory);
    expect(context?.values.get(callerKey)).toEqual({ user: "ada", right: "admin" });
    expect(context?.values.get(requestIdKey)).toBe("mine");
  });

  test("carries an error with its details", async () => {
    const server = await startTestServer({
      handlers: {
        getCursor: () => {
          throw new MemorydError("not_found", "There is none.", { reason: "CURSOR_UNKNOWN" });
        },
      },
    });
    const call = createClient(MemoryService, transportFor(server.url ?? "")).getCursor({});
    const error = ConnectError.from(await call.catch((reason: unknown) => reason));
    expect(error.code).toBe(Code.NotFound);
    expect(error.rawMessage).toBe("There is none.");
    expect(error.details).toHaveLength(1);
  });

  test("is answered within the deadline that the client gave", async () => {
    const reasons: unknown[] = [];
    const server = await startTestServer({
      handlers: {
        getCursor: (_request, { signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener("abort", () => {
              reasons.push(signal.reason);
              reject(signal.reason);
            });
          }),
      },
    });
    const client = createClient(MemoryService, transportFor(server.url ?? ""));
    await expect(client.getCursor({}, { timeoutMs: 50 })).rejects.toMatchObject({
      code: Code.DeadlineExceeded,
    });
    await until("the handler was told", () => reasons.length === 1);
  });

  test("a deadline beyond the server's is cut, not refused", async () => {
    let remainingMs: number | undefined;
    const server = await startTestServer({
      handlers: {
        getCursor: (_request, { timeoutMs }) => {
          remainingMs = timeoutMs();
          return {};
        },
      },
    });
    await createClient(MemoryService, transportFor(server.url ?? "")).getCursor({}, { timeoutMs: 600_000 });
    expect(remainingMs).toBeLessThanOrEqual(60_000);
    expect(remainingMs).toBeGreaterThan(50_000);
  });

  test("an answer over the limit is refused by the server", async () => {
    const server = await startTestServer({
      handlers: { getCursor: () => ({ content: "x".repeat(5 * 1024 * 1024) }) },
    });
    const call = createClient(MemoryService, transportFor(server.url ?? "")).getCursor({});
    await expect(call).rejects.toMatchObject({ code: Code.ResourceExhausted });
  });

  test("a request just under the limit passes, one over it is refused, and the connection serves on", async () => {
    const server = await startTestServer();
    const client = createClient(MemoryService, transportFor(server.url ?? ""));
    const body = "x".repeat(4 * 1024 * 1024 - 100);
    expect((await client.updateMemory({ memory: { body } })).memory?.body).toHaveLength(body.length);
    for (let round = 0; round < 3; round += 1) {
      const refused = client.updateMemory({ memory: { body: `${body}${"x".repeat(100)}` } });
      await expect(refused).rejects.toMatchObject({ code: Code.ResourceExhausted });
      expect((await client.getCursor({})).content).toBe("here");
    }
  });

  test("a caller that goes away aborts the handler", async () => {
    const seen: string[] = [];
    const server = await startTestServer({
      handlers: {
        getCursor: (_request, { signal }) =>
          new Promise(() => {
            seen.push("called");
            signal.addEventListener("abort", () => seen.push("aborted"));
          }),
      },
    });
    const controller = new AbortController();
    const call = createClient(MemoryService, transportFor(server.url ?? ""))
      .getCursor({}, { signal: controller.signal })
      .catch(() => {});
    await until("the handler was called", () => seen.includes("called"));
    controller.abort();
    await call;
    await until("the handler was told", () => seen.includes("aborted"));
    const line = await until("it is logged", () => server.lines.find(({ message }) => message === "request"));
    expect(line.fields).toMatchObject({
      code: "canceled",
      method: "magus.memory.v1.MemoryService/GetCursor",
    });
  });
});

test("a deadline ends a call whose request is still on its way", async () => {
  const server = await startTestServer();
  const head = `${callHead()}Connect-Timeout-Ms: 100\r\nContent-Length: 100\r\n\r\n{`;
  const { text } = await sendRaw(server.port, [head], { until: (seen) => seen.includes("}") });
  expect(text).toMatch(/^HTTP\/1\.1 504 .*"deadline_exceeded"/s);

  const session = connectHttp2(server.url ?? "");
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    authorization: `Bearer ${token}`,
    "content-type": "application/grpc",
    "grpc-timeout": "100m",
  });
  stream.write(Buffer.from([0, 0, 0]));
  const headers = await new Promise<Record<string, unknown>>((resolve) => stream.once("response", resolve));
  expect(headers["grpc-status"]).toBe("4");
  session.destroy();
});

test.each([
  ["gzip", gunzipSync],
  ["br", brotliDecompressSync],
] as const)("answers are compressed with %s for who asks for it", async (encoding, inflate) => {
  const content = "again and again ".repeat(1_000);
  const server = await startTestServer({ handlers: { getCursor: () => ({ content }) } });
  const head = `${callHead()}Accept-Encoding: ${encoding}\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}`;
  const { text } = await sendRaw(server.port, [head]);
  const [answerHead = "", ...rest] = text.split("\r\n\r\n");
  expect(answerHead.toLowerCase()).toContain(`content-encoding: ${encoding}`);
  const body = Buffer.from(rest.join("\r\n\r\n"), "latin1");
  expect(body.length).toBeLessThan(content.length / 10);
  const chunked = answerHead.toLowerCase().includes("transfer-encoding: chunked");
  expect(chunked).toBe(false);
  expect(JSON.parse(inflate(body).toString())).toEqual({ content });
});

test("what the library refuses before a handler runs is counted by its code", async () => {
  const server = await startTestServer();
  const grpc = { "content-type": "application/grpc", te: "trailers" };
  await sendHttp2(server.port, grpc, [grpcFrame(Buffer.alloc(8, 0xff))]);
  await sendHttp2(server.port, { ...grpc, "grpc-timeout": "soon" }, [grpcFrame(new Uint8Array())]);
  await sendHttp2(server.port, { "content-type": "text/html" });
  const lines = await until("all are logged", () => server.lines.length === 3 && server.lines);
  expect(lines.map(({ fields }) => fields.code)).toEqual([
    "invalid_argument",
    "invalid_argument",
    "invalid_argument",
  ]);
  expect(lines.map(({ fields }) => fields.status)).toEqual([200, 200, 415]);
});
