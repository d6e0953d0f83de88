/**
 * Deadlines of clients that others wrote are kept by the daemon itself (daemon.md D14): it answers a request
 * whose body never comes, though nobody hangs up.
 */
import { once } from "node:events";
import * as http from "node:http";
import * as http2 from "node:http2";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { expect, onTestFinished, test } from "vitest";
import { Health, HealthCheckResponse_ServingStatus } from "../../gen/health/v1/health_pb.js";
import { daemonOfFile } from "../support/daemon.js";
import { service } from "./door.js";

const daemon = daemonOfFile();

test("Connect-Timeout-Ms over HTTP/1.1", async () => {
  const request = http.request(`${daemon().url}/${service}/UpdateCursor`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${daemon().token}`,
      "content-type": "application/json",
      "content-length": 100,
      "connect-timeout-ms": "80",
    },
  });
  onTestFinished(() => void request.destroy());
  request.on("error", () => {});
  request.write('{"content":"');
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  const body = JSON.parse((await response.setEncoding("utf8").toArray()).join(""));
  expect([response.statusCode, body.code]).toEqual([504, "deadline_exceeded"]);
});

test("grpc-timeout over HTTP/2", async () => {
  const session = http2.connect(daemon().url);
  onTestFinished(() => session.destroy());
  const stream = session.request({
    ":method": "POST",
    ":path": `/${service}/UpdateCursor`,
    authorization: `Bearer ${daemon().token}`,
    "content-type": "application/grpc",
    te: "trailers",
    "grpc-timeout": "80m",
  });
  let status: unknown;
  const note = (headers: http2.IncomingHttpHeaders): void => {
    status ??= headers["grpc-status"];
  };
  stream
    .on("response", note)
    .on("trailers", note)
    .on("error", () => {})
    .resume();
  await once(stream, "end");
  expect(status).toBe(String(Code.DeadlineExceeded));
});

test.each(["Connect", "gRPC"] as const)(
  "timeoutMs of connect-node ends a stream over %s",
  async (protocol) => {
    const baseUrl = daemon().url;
    const sessionManager = new Http2SessionManager(baseUrl);
    onTestFinished(() => sessionManager.abort());
    const transport =
      protocol === "Connect"
        ? createConnectTransport({ baseUrl, httpVersion: "2", sessionManager })
        : createGrpcTransport({ baseUrl, sessionManager });
    const watching = (async () => {
      for await (const { status } of createClient(Health, transport).watch({}, { timeoutMs: 200 })) {
        expect(status).toBe(HealthCheckResponse_ServingStatus.SERVING);
      }
    })();
    const error = ConnectError.from(await watching.catch((reason: unknown) => reason));
    expect(error.code).toBe(Code.DeadlineExceeded);
  },
);
