/** The reader of HTTP/1.1 answers, against the bytes that Node's own server sends. */
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createHttp1Answers, type Http1Answer } from "./load/http1-answers.js";
import { openHttp1Caller } from "./load/http1-caller.js";

const text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const chunked =
  "HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n";
const empty = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

function answersIn(pieces: readonly string[]): readonly string[] {
  const answers: Http1Answer[] = [];
  const read = createHttp1Answers((answer) => answers.push(answer));
  for (const piece of pieces) read(Buffer.from(piece));
  return answers.map(({ status, body }) => `${status} ${body}`);
}

async function portOf(answer: RequestListener): Promise<number> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

test("answers are read whole, however the connection cuts them", () => {
  const all = text + chunked + empty + text;
  const expected = ["200 hello", "404 abc0123456789", "200 ", "200 hello"];
  expect(answersIn([all])).toEqual(expected);
  expect(answersIn([...all])).toEqual(expected);
  for (let at = 1; at < all.length; at += 1)
    expect(answersIn([all.slice(0, at), all.slice(at)])).toEqual(expected);
});

test("an answer without a length is refused, not waited for", () => {
  expect(() => answersIn(["HTTP/1.1 200 OK\r\n\r\n"])).toThrow("neither a length nor chunks");
});

test("bodies of Node's server arrive unchanged over one kept connection", async () => {
  const sockets = new Set<unknown>();
  const port = await portOf((request, response) => {
    sockets.add(request.socket);
    request.on("data", (piece: Buffer) => response.write(piece)).on("end", () => response.end());
  });
  const caller = await openHttp1Caller({ port, headers: { "content-type": "application/json" } });
  onTestFinished(() => caller.close());
  for (const length of [1, 70_000, 3_000_000]) {
    const body = Buffer.alloc(length, `${length} `);
    expect((await caller.call("/", body)).equals(body)).toBe(true);
  }
  expect(sockets.size).toBe(1);
});

test("a status other than 200 and a connection that ends are errors", async () => {
  const port = await portOf((request, response) => {
    if (request.url === "/gone") request.socket.destroy();
    else response.writeHead(503, { "content-length": "4" }).end("busy");
  });
  const caller = await openHttp1Caller({ port, headers: {} });
  onTestFinished(() => caller.close());
  await expect(caller.call("/x", Buffer.alloc(0))).rejects.toThrow("/x was answered with status 503 busy");
  await expect(caller.call("/gone", Buffer.alloc(0))).rejects.toThrow("closed the connection");
});
