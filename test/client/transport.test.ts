/** The client's transports: both HTTP versions, over TCP and over a unix socket. */
import * as http from "node:http";
import * as http2 from "node:http2";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { Code, type ConnectError } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { describe, expect, onTestFinished, test } from "vitest";
import { MemoryService } from "../../gen/magus/memory/v1/memory_pb.js";
import { createMemorydClients } from "../../src/client/clients.js";
import {
  type ClientTransport,
  createHttpTransport,
  createSocketTransport,
  type TransportOptions,
} from "../../src/client/transport.js";
import { memorydErrorFromConnect } from "../../src/wire/received.js";
import { temporaryFolder } from "../support/folder.js";
import { until } from "../support/until.js";

type Seen = { readonly headers: Headers; readonly content: string };

/** A service that keeps what it receives; answers with the content it was sent. */
async function listen(httpVersion: "1.1" | "2", socket?: string) {
  const seen: Seen[] = [];
  const handler = connectNodeAdapter({
    routes: (router) =>
      router.service(MemoryService, {
        updateCursor: ({ content }, { requestHeader }) => {
          seen.push({ headers: requestHeader, content });
          return { content };
        },
      }),
  });
  const server = httpVersion === "2" ? http2.createServer(handler) : http.createServer(handler);
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) =>
    socket === undefined ? server.listen(0, "127.0.0.1", resolve) : server.listen(socket, resolve),
  );
  const address = server.address();
  const connections = () =>
    new Promise<number>((resolve, reject) =>
      server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    );
  return { seen, connections, url: `http://127.0.0.1:${(address as AddressInfo).port}` };
}

async function connected(httpVersion: "1.1" | "2", over: "TCP" | "a socket", options: TransportOptions = {}) {
  const socket = join(temporaryFolder(), "s");
  const { seen, connections, url } = await listen(httpVersion, over === "TCP" ? undefined : socket);
  const all = { ...options, httpVersion };
  const transport =
    over === "TCP" ? createHttpTransport({ url, ...all }) : createSocketTransport({ socket, ...all });
  onTestFinished(() => transport.close());
  return { seen, connections, transport, memory: createMemorydClients(transport).memory };
}

const failure = (call: Promise<unknown>): Promise<ConnectError> =>
  call.then(
    () => Promise.reject(new Error("the call did not fail")),
    (error: ConnectError) => error,
  );

describe.each([
  ["1.1", "TCP"],
  ["1.1", "a socket"],
  ["2", "TCP"],
  ["2", "a socket"],
] as const)("HTTP/%s over %s", (httpVersion, over) => {
  test("carries calls, many at a time", async () => {
    const { memory } = await connected(httpVersion, over);
    const contents = Array.from({ length: 300 }, (_, index) => `${index}`);
    const answers = await Promise.all(contents.map((content) => memory.updateCursor({ content })));
    expect(answers.map(({ content }) => content)).toEqual(contents);
  });

  test("sends the token and the workspace with every call, but a call's own workspace first", async () => {
    const { memory, seen } = await connected(httpVersion, over, { token: "secret", workspace: "here" });
    await memory.updateCursor({});
    await memory.updateCursor({}, { headers: { "memoryd-workspace": "there" } });
    expect(
      seen.map(({ headers }) => [headers.get("authorization"), headers.get("memoryd-workspace")]),
    ).toEqual([
      ["Bearer secret", "here"],
      ["Bearer secret", "there"],
    ]);
  });

  test("sends neither when there is none", async () => {
    const { memory, seen } = await connected(httpVersion, over);
    await memory.updateCursor({});
    expect(seen[0]?.headers.has("authorization")).toBe(false);
    expect(seen[0]?.headers.has("memoryd-workspace")).toBe(false);
  });

  test("has malformed text refused, where a binary message would have repaired it", async () => {
    const { memory, seen } = await connected(httpVersion, over);
    const error = await failure(memory.updateCursor({ content: "a\ud800b" }));
    expect(error.code).toBe(Code.InvalidArgument);
    expect(seen).toEqual([]);
  });

  test("gives a call the longest deadline unless it has one", async () => {
    const { memory, seen } = await connected(httpVersion, over);
    await memory.updateCursor({});
    await memory.updateCursor({}, { timeoutMs: 1_234 });
    expect(seen.map(({ headers }) => headers.get("connect-timeout-ms"))).toEqual(["60000", "1234"]);
  });

  test("lets go of its connections when it is closed, once or twice", async () => {
    const { memory, transport, connections } = await connected(httpVersion, over);
    await memory.updateCursor({});
    expect(await connections()).toBe(1);
    transport.close();
    transport.close();
    await until("the connection is closed", async () => (await connections()) === 0);
  });
});

test.each(["1.1", "2"] as const)(
  "a connection that breaks under a call over HTTP/%s is no conflict and no fault of ours",
  async (httpVersion) => {
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => socket.resetAndDestroy());
    });
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    using transport = createHttpTransport({ url, httpVersion });
    const error = await failure(createMemorydClients(transport).memory.updateCursor({}));
    expect(error.code).toBe(Code.Unavailable);
    expect(error.rawMessage).toMatch(/^The connection broke before the answer came; .*\.$/);
    expect(memorydErrorFromConnect(error)).toMatchObject({ code: "unavailable", reason: "CALL_BROKEN_OFF" });
  },
);

describe("where nobody listens, a call", () => {
  const gone: readonly (readonly [string, (httpVersion: "1.1" | "2") => ClientTransport])[] = [
    ["a port", (httpVersion) => createHttpTransport({ url: "http://127.0.0.1:1", httpVersion })],
    [
      "a socket",
      (httpVersion) => createSocketTransport({ socket: join(temporaryFolder(), "none"), httpVersion }),
    ],
  ];
  test.each(gone)("to %s is unavailable, and the sentence says what to do", async (_where, open) => {
    for (const version of ["1.1", "2"] as const) {
      using transport = open(version);
      const error = await failure(createMemorydClients(transport).memory.getCursor({}));
      expect(error.code).toBe(Code.Unavailable);
      expect(error.rawMessage).toMatch(/start one with memoryd serve/);
    }
  });
});
