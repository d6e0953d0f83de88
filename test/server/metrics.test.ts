/** `/metrics` (daemon.md D15): what is counted, under labels that no client can choose. */
import { expect, test } from "vitest";
import { until } from "../support/until.js";
import { sendRaw } from "./raw.js";
import { startTestServer, type TestServer, token } from "./support.js";

const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };

async function pageOf(server: TestServer): Promise<string> {
  const response = await fetch(`${server.url}/metrics`, { headers });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
  return response.text();
}

/** The value of one series, as the page spells it. */
const readingOf = (page: string, series: string): number | undefined => {
  const line = page.split("\n").find((text) => text.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.split(" ").at(-1));
};

const call = (server: TestServer, path: string, body = "{}") =>
  fetch(`${server.url}${path}`, { method: "POST", headers, body });

test("calls are counted by method and code from the first one on, with how long they took", async () => {
  const server = await startTestServer();
  const method = "magus.memory.v1.MemoryService/GetCursor";
  for (let count = 0; count < 3; count += 1) await call(server, `/${method}`);
  await call(server, `/${method}`, "{");
  await until("all are logged", () => server.lines.length === 4);
  const page = await pageOf(server);
  expect(readingOf(page, `memoryd_requests_total{method="${method}",code="ok"}`)).toBe(3);
  expect(readingOf(page, `memoryd_requests_total{method="${method}",code="invalid_argument"}`)).toBe(1);
  expect(readingOf(page, `memoryd_request_duration_seconds_count{method="${method}"}`)).toBe(4);
});

test("paths that do not exist, and requests that were not let in, make no labels of their own", async () => {
  const server = await startTestServer();
  for (let count = 0; count < 20; count += 1) await call(server, `/path-${count}`);
  await fetch(`${server.url}/magus.memory.v1.MemoryService/GetCursor`, { method: "POST" });
  await sendRaw(server.port, ["GET /path-x HTTP/1.0\r\nHost: evil.example\r\n\r\n"]);
  await until("all are logged", () => server.lines.length === 22);
  const page = await pageOf(server);
  const labels = new Set([...page.matchAll(/method="([^"]*)"/g)].map(([, label]) => label));
  expect([...labels].sort()).toEqual(["unknown"]);
  expect(readingOf(page, 'memoryd_requests_total{method="unknown",code="unimplemented"}')).toBe(20);
  expect(readingOf(page, 'memoryd_requests_total{method="unknown",code="unauthenticated"}')).toBe(1);
  expect(readingOf(page, 'memoryd_requests_total{method="unknown",code="permission_denied"}')).toBe(1);
});

test("gauges are read when the page is, batches are counted, and the event loop's lag is there", async () => {
  let depth = 1;
  const batchListeners: ((jobs: number) => void)[] = [];
  const server = await startTestServer({
    parts: {
      gauges: [{ name: "memoryd_write_queue_depth", help: "Writes that wait", read: () => depth }],
      onBatch: (listener) => batchListeners.push(listener),
    },
  });
  for (const listener of batchListeners) for (const jobs of [1, 3, 64]) listener(jobs);
  expect(readingOf(await pageOf(server), "memoryd_write_queue_depth")).toBe(1);
  depth = 7;
  const page = await pageOf(server);
  expect(readingOf(page, "memoryd_write_queue_depth")).toBe(7);
  expect(readingOf(page, 'memoryd_commit_batch_jobs_bucket{le="4"}')).toBe(2);
  expect(readingOf(page, "memoryd_commit_batch_jobs_sum")).toBe(68);
  expect(readingOf(page, "memoryd_open_connections")).toBeGreaterThan(0);
  expect(readingOf(page, "nodejs_eventloop_lag_p99_seconds")).toBeGreaterThan(0);
});

test("two servers in one process count apart", async () => {
  const [first, second] = [await startTestServer(), await startTestServer()];
  const method = "magus.memory.v1.MemoryService/GetCursor";
  await call(first, `/${method}`);
  await until("it is logged", () => first.lines.length === 1);
  const series = `memoryd_requests_total{method="${method}",code="ok"}`;
  expect(readingOf(await pageOf(first), series)).toBe(1);
  expect(readingOf(await pageOf(second), series)).toBeUndefined();
});
