/**
 * The listener alone (daemon.md D12, D14): protocols told apart whatever the pieces they come in, nothing lost
 * of what was read, limits in time and number, and an end that waits for what is in progress.
 */

import { connect as connectHttp2, type Http2Session, type SecureClientSessionOptions } from "node:http2";
import { request as httpsRequest } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { createListener, type Listener, type ListenerOptions } from "../../src/server/listener.js";
import { isHttp2 } from "../../src/server/message.js";
import { until } from "../support/until.js";
import { testCertificate, testKey } from "./certificate.js";
import { sendRaw, statusesIn } from "./raw.js";

type Opened = { readonly listener: Listener; readonly port: number };

/** Answers with the HTTP version and the body that came, once the whole of it is there. */
async function open(options: Partial<ListenerOptions> = {}): Promise<Opened> {
  const listener = createListener({
    handler: (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => response.end(`${request.httpVersion}:${Buffer.concat(chunks)}`));
    },
    ...options,
  });
  const { port } = (await listener.listen({ host: "127.0.0.1", port: 0 })) as AddressInfo;
  onTestFinished(async () => {
    await listener.close(0);
  });
  return { listener, port };
}

const post = (body: string): string =>
  `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

/** Sends every byte as a write of its own, in both directions untouched otherwise. */
function dribble(port: number): Duplex {
  const socket = connect(port, "127.0.0.1");
  socket.setNoDelay(true);
  const duplex = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      const next = (index: number): void => {
        if (index === chunk.length) done();
        else socket.write(chunk.subarray(index, index + 1), () => setImmediate(next, index + 1));
      };
      next(0);
    },
    final(done) {
      socket.end(done);
    },
    destroy(error, done) {
      socket.destroy();
      done(error);
    },
  });
  socket.on("data", (chunk) => duplex.push(chunk)).on("end", () => duplex.push(null));
  socket.on("error", (error) => duplex.destroy(error));
  return duplex;
}

function requestOver(
  session: Http2Session & { request: ReturnType<typeof connectHttp2>["request"] },
  body: string,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ":method": "POST", ":path": "/" });
    let text = "";
    stream.on("data", (chunk: Buffer) => {
      text += chunk;
    });
    stream.on("end", () => resolve(text)).on("error", reject);
    stream.end(body);
  });
}

async function http2Text(
  port: number,
  body: string,
  options: SecureClientSessionOptions = {},
  scheme = "http",
): Promise<string> {
  const session = connectHttp2(`${scheme}://127.0.0.1:${port}`, options);
  session.on("error", () => {});
  try {
    return await requestOver(session, body);
  } finally {
    session.destroy();
  }
}

describe("telling HTTP/1.1 from HTTP/2", () => {
  test("an HTTP/1.1 request is answered that comes one byte at a time", async () => {
    const { port } = await open();
    const { text } = await sendRaw(port, [...post("hello")], { until: (seen) => seen.endsWith("1.1:hello") });
    expect(statusesIn(text)).toEqual([200]);
  });

  test("one whose verb begins like the preface of HTTP/2 is answered", async () => {
    const { port } = await open();
    const patch = post("hello").replace("POST", "PROPPATCH");
    const { text } = await sendRaw(port, ["PR", patch.slice(2)], {
      until: (seen) => seen.endsWith("1.1:hello"),
    });
    expect(statusesIn(text)).toEqual([200]);
  });

  test("requests sent ahead of their answers are answered in order", async () => {
    const { port } = await open();
    const { text } = await sendRaw(port, [post("one") + post("two") + post("three")], {
      until: (seen) => seen.endsWith("1.1:three"),
    });
    expect(statusesIn(text)).toEqual([200, 200, 200]);
    expect([...text.matchAll(/1\.1:(\w+?)(?=HTTP|$)/g)].map(([, body]) => body)).toEqual([
      "one",
      "two",
      "three",
    ]);
  });

  test("an HTTP/2 connection is served that comes one byte at a time", async () => {
    const { port } = await open();
    const answer = await http2Text(port, "hello", { createConnection: () => dribble(port) });
    expect(answer).toBe("2.0:hello");
  });

  test("a preface cut after every byte of it is still one", async () => {
    const { port } = await open();
    const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    const emptySettings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
    for (let cut = 1; cut < preface.length; cut += 1) {
      const { text } = await sendRaw(port, [preface.slice(0, cut), preface.slice(cut), emptySettings], {
        until: (seen) => seen.length >= 9,
      });
      // The server's own SETTINGS frame: type 4 on stream 0.
      expect(text.charCodeAt(3)).toBe(4);
    }
  });

  test("under TLS both are told apart by what the client offers", async () => {
    const { port } = await open({ tls: { cert: Buffer.from(testCertificate), key: Buffer.from(testKey) } });
    expect(await http2Text(port, "hello", { rejectUnauthorized: false }, "https")).toBe("2.0:hello");
    const http1 = await new Promise<string>((resolve, reject) => {
      const request = httpsRequest(
        { host: "127.0.0.1", port, method: "POST", rejectUnauthorized: false },
        (response) => {
          let text = "";
          response.on("data", (chunk) => {
            text += chunk;
          });
          response.on("end", () => resolve(text));
        },
      );
      request.on("error", reject).end("hello");
    });
    expect(http1).toBe("1.1:hello");
  });
});

describe("limits in time and number", () => {
  test.each([
    ["that says nothing", []],
    ["that says half a preface", ["PRI * HT"]],
    ["that stops in the middle of a request's head", ["POST / HTTP/1.1\r\nHost: loc"]],
  ])("a client %s is closed", async (_what, chunks) => {
    const { port } = await open({ silenceTimeoutMs: 200 });
    const { isClosed } = await sendRaw(port, chunks);
    expect(isClosed).toBe(true);
  });

  test("a TLS client that says nothing is closed", async () => {
    const tls = { cert: Buffer.from(testCertificate), key: Buffer.from(testKey) };
    const { port } = await open({ silenceTimeoutMs: 200, tls });
    expect((await sendRaw(port, [])).isClosed).toBe(true);
  });

  test("an HTTP/2 connection without a request is closed, one with a request in progress is not", async () => {
    const release: (() => void)[] = [];
    const { port, listener } = await open({
      idleTimeoutMs: 200,
      handler: (_request, response) => release.push(() => response.end("late")),
    });
    const busy = connectHttp2(`http://127.0.0.1:${port}`);
    const idle = connectHttp2(`http://127.0.0.1:${port}`);
    onTestFinished(() => busy.destroy());
    const answer = requestOver(busy, "");
    await new Promise((resolve) => idle.once("close", resolve));
    await until("the idle one is gone", () => listener.openConnections() === 1);
    for (const answerNow of release) answerNow();
    expect(await answer).toBe("late");
  });

  test("an HTTP/1.1 connection without a request is closed", async () => {
    const { port } = await open({ idleTimeoutMs: 200 });
    const { text, isClosed } = await sendRaw(port, [post("hello")], { timeoutMs: 10_000 });
    expect(text).toMatch(/1\.1:hello$/);
    expect(isClosed).toBe(true);
  });

  test("a client that dies without a goodbye leaves no HTTP/2 session behind", async () => {
    const { port, listener } = await open();
    const socket = connect(port, "127.0.0.1");
    const session = connectHttp2(`http://127.0.0.1:${port}`, { createConnection: () => socket });
    session.on("error", () => {});
    expect(await requestOver(session, "x")).toBe("2.0:x");
    socket.destroy();
    await until("the session is gone", () => listener.openConnections() === 0);
  });

  test("connections over the limit are closed, and there is room again when one ends", async () => {
    const { port, listener } = await open({ maxConnections: 2 });
    const held = [connect(port, "127.0.0.1"), connect(port, "127.0.0.1")];
    await until("both are open", () => listener.openConnections() === 2);
    expect(await sendRaw(port, [post("hello")])).toEqual({ text: "", isClosed: true });
    for (const socket of held) socket.destroy();
    await until("both are gone", () => listener.openConnections() === 0);
    const { text } = await sendRaw(port, [post("hello")], { until: (seen) => seen.endsWith("1.1:hello") });
    expect(statusesIn(text)).toEqual([200]);
  });
});

test("a connection may rest between two requests for longer than a head may take", async () => {
  const { port } = await open({ silenceTimeoutMs: 100 });
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => {
    socket.destroy();
  });
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk;
  });
  socket.write(post("one"));
  await until("the first is answered", () => text.endsWith("1.1:one"));
  await sleep(500);
  socket.write(post("two"));
  await until("the second is answered", () => text.endsWith("1.1:two"));
});

test("an HTTP/2 client that sends the head of a request bit by bit is closed", async () => {
  const { port } = await open({ idleTimeoutMs: 300 });
  const socket = connect(port, "127.0.0.1");
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.on("error", () => {}).resume();
  socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
  // HEADERS of stream 1 that announces 16,000 bytes.
  socket.write(Buffer.from([0, 0x3e, 0x80, 1, 4, 0, 0, 0, 1]));
  const drip = setInterval(() => socket.write(Buffer.from([0])), 50);
  onTestFinished(() => clearInterval(drip));
  await closed;
});

describe("closing", () => {
  test("requests in progress are answered, idle connections end, new ones are refused", async () => {
    const release: (() => void)[] = [];
    const { port, listener } = await open({
      handler: (request, response) => release.push(() => response.end(isHttp2(request) ? "two" : "one")),
    });
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    onTestFinished(() => session.destroy());
    const overHttp2 = requestOver(session, "");
    const overHttp1 = sendRaw(port, [post("")]);
    const idle = sendRaw(port, []);
    const idleSession = connectHttp2(`http://127.0.0.1:${port}`);
    const idleClosed = new Promise((resolve) => idleSession.once("close", resolve));
    await until("both requests are there", () => release.length === 2 && listener.openConnections() === 4);
    const closing = listener.close(20_000);
    expect((await idle).isClosed).toBe(true);
    await idleClosed;
    await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow();
    for (const answerNow of release) answerNow();
    expect(await overHttp2).toBe("two");
    expect((await overHttp1).text).toMatch(/one$/);
    expect(await closing).toBe("clean");
  });

  test("what outlives the grace is cut", async () => {
    const { port, listener } = await open({ handler: () => {} });
    const overHttp1 = sendRaw(port, [post("")]);
    const overHttp2 = http2Text(port, "").catch(() => "cut");
    await until("both are open", () => listener.openConnections() === 2);
    expect(await listener.close(100)).toBe("cut");
    expect(await overHttp1).toEqual({ text: "", isClosed: true });
    expect(await overHttp2).not.toMatch(/2\.0/);
  });
});
