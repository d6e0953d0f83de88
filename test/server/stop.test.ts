/** How the server stops (daemon.md D7): calls in progress end well, streams are told, nothing waits for ever. */
import { existsSync } from "node:fs";
import { Agent, get, type IncomingMessage } from "node:http";
import { Code, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { expect, test } from "vitest";
import { Health, HealthCheckResponse_ServingStatus as ServingStatus } from "../../gen/health/v1/health_pb.js";
import { MemoryService } from "../../gen/magus/memory/v1/memory_pb.js";
import { until } from "../support/until.js";
import { startTestServer, token } from "./support.js";

const headers = { authorization: `Bearer ${token}` };

/** A handler that waits to be let go, whatever its signal says. */
function heldCalls() {
  const release: (() => void)[] = [];
  return {
    release,
    handlers: {
      getCursor: () =>
        new Promise<{ content: string }>((resolve) => {
          release.push(() => resolve({ content: "finished" }));
        }),
    },
  };
}

test("unary calls in progress finish, new ones are refused, and the doors are gone", async () => {
  const { release, handlers } = heldCalls();
  const server = await startTestServer({ handlers });
  const baseUrl = server.url ?? "";
  const calls = [
    createConnectTransport({ baseUrl, httpVersion: "1.1" }),
    createConnectTransport({ baseUrl, httpVersion: "2" }),
    createGrpcTransport({ baseUrl }),
  ].map((transport) => createClient(MemoryService, transport).getCursor({}, { headers }));
  await until("all are in progress", () => release.length === 3 && server.openRequests() === 3);
  const stopped = server.stop(20_000);
  const late = createClient(MemoryService, createConnectTransport({ baseUrl, httpVersion: "1.1" }));
  await expect(late.getCursor({}, { headers })).rejects.toMatchObject({ code: Code.Unavailable });
  for (const finish of release) finish();
  expect((await Promise.all(calls)).map(({ content }) => content)).toEqual(Array(3).fill("finished"));
  expect(await stopped).toBe("clean");
  expect(existsSync(server.socket ?? "")).toBe(false);
});

test("a call on a connection that was idle when the stop began is answered, as the last one there", async () => {
  const server = await startTestServer();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = () =>
    new Promise<IncomingMessage>((resolve, reject) => {
      get(`${server.url}/livez`, { agent }, (response) => {
        response.resume().once("end", () => resolve(response));
      }).once("error", reject);
    });
  expect((await ask()).headers.connection).toBe("keep-alive");
  const stopped = server.stop(5_000);
  expect((await ask()).headers.connection).toBe("close");
  await expect(ask()).rejects.toMatchObject({ code: "ECONNREFUSED" });
  expect(await stopped).toBe("clean");
});

test("calls that outlive the grace are told that the daemon is unavailable", async () => {
  const { release, handlers } = heldCalls();
  const server = await startTestServer({ handlers });
  const baseUrl = server.url ?? "";
  const calls = [
    createConnectTransport({ baseUrl, httpVersion: "1.1" }),
    createGrpcTransport({ baseUrl }),
  ].map((transport) => createClient(MemoryService, transport).getCursor({}, { headers }));
  await until("both are in progress", () => release.length === 2);
  const ends = Promise.all(calls.map((call) => call.catch((error: unknown) => error)));
  expect(await server.stop(50)).toBe("cut");
  for (const end of await ends) {
    expect(end).toMatchObject({ code: Code.Unavailable, rawMessage: expect.stringContaining("stopping") });
  }
});

test("a watcher of health hears that the daemon is going, then its stream ends with unavailable", async () => {
  const server = await startTestServer();
  const client = createClient(Health, createGrpcTransport({ baseUrl: server.url ?? "" }));
  const heard: (ServingStatus | Code)[] = [];
  const watching = (async () => {
    for await (const { status } of client.watch({})) heard.push(status);
  })().catch((error: { code: Code }) => heard.push(error.code));
  await until("it is told that all is well", () => heard.length === 1);
  expect(await server.stop(5_000)).toBe("clean");
  await watching;
  expect(heard).toEqual([ServingStatus.SERVING, ServingStatus.NOT_SERVING, Code.Unavailable]);
});

test("stopping twice is stopping once", async () => {
  const server = await startTestServer();
  const [first, second] = [server.stop(1_000), server.stop(0)];
  expect(await Promise.all([first, second])).toEqual(["clean", "clean"]);
});

test("use is a call that was let in; probes, refusals and the daemon's own routes are none (D8)", async () => {
  const { release, handlers } = heldCalls();
  const server = await startTestServer({ handlers });
  const at = (path: string, init: RequestInit = {}) => fetch(`${server.url}${path}`, init);
  const before = server.lastUsedMs();
  await at("/livez");
  await at("/readyz");
  await at("/status", { headers });
  await at("/metrics", { headers });
  await at("/nothing", { headers });
  await at("/magus.memory.v1.MemoryService/GetCursor", { method: "POST" });
  const health = createClient(
    Health,
    createConnectTransport({ baseUrl: server.url ?? "", httpVersion: "1.1" }),
  );
  await health.check({});
  await until(
    "all are logged",
    () => server.lines.filter(({ message }) => message === "request").length === 7,
  );
  expect(server.lastUsedMs()).toBe(before);
  expect(server.openRequests()).toBe(0);
  const transport = createConnectTransport({ baseUrl: server.url ?? "", httpVersion: "1.1" });
  const call = createClient(MemoryService, transport).getCursor({}, { headers });
  await until("it is in progress", () => server.openRequests() === 1 && release.length === 1);
  expect(server.lastUsedMs()).toBeGreaterThan(before);
  for (const finish of release) finish();
  await call;
  await until("it is over", () => server.openRequests() === 0);
  expect(server.lastUsedMs()).toBeGreaterThan(before);
});
