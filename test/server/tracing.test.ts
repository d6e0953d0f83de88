/** Traces (daemon.md D15): what a collector receives, and what happens without the SDK or without a collector. */
import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "./support.js";

const run = promisify(execFile);

type Attribute = { readonly key: string; readonly value: { readonly stringValue?: string } };
type ReceivedSpan = {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly Attribute[];
  readonly status: { readonly code?: number };
};

/** Takes OTLP over HTTP as JSON, and keeps the spans. */
async function openCollector() {
  const spans: ReceivedSpan[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString("utf8"));
      for (const { scopeSpans } of resourceSpans) for (const scope of scopeSpans) spans.push(...scope.spans);
      response.setHeader("content-type", "application/json");
      response.end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
  });
  return { spans, endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function runTraced(variables: Record<string, string>, nodeArgs: readonly string[] = []) {
  const args = ["--import", "tsx", ...nodeArgs, "test/server/traced-process.ts", temporaryFolder()];
  const { stdout } = await run(process.execPath, args, {
    env: {
      ...process.env,
      OTEL_TRACES_EXPORTER: "otlp",
      OTEL_METRICS_EXPORTER: "none",
      OTEL_LOGS_EXPORTER: "none",
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      ...variables,
    },
  });
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as {
    readonly statuses: readonly number[];
    readonly warnings: readonly string[];
  };
}

test("each RPC is one server span, under the span of its caller, with its outcome and no content", async () => {
  const { spans, endpoint } = await openCollector();
  const { statuses } = await runTraced({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint });
  expect(statuses).toEqual([200, 503]);
  const attributesOf = (span: ReceivedSpan | undefined) =>
    Object.fromEntries((span?.attributes ?? []).map(({ key, value }) => [key, value.stringValue]));
  const [good, bad] = ["GetCursor", "DeleteMemory"].map((method) =>
    spans.find(({ name }) => name === `magus.memory.v1.MemoryService/${method}`),
  );
  expect(spans).toHaveLength(2);
  expect(good).toMatchObject({
    kind: 2,
    traceId: "0af7651916cd43dd8448eb211c80319c",
    parentSpanId: "b7ad6b7169203331",
  });
  expect(attributesOf(good)).toEqual({
    "rpc.system": "connect_rpc",
    "rpc.service": "magus.memory.v1.MemoryService",
    "rpc.method": "GetCursor",
    "rpc.response.status_code": "ok",
    "memoryd.request_id": "traced",
  });
  expect(good?.status.code ?? 0).toBe(0);
  expect(attributesOf(bad)).toMatchObject({ "rpc.response.status_code": "unavailable" });
  expect(bad?.status.code).toBe(2);
});

test("without the SDK there is one warning that says what to install, and the server serves", async () => {
  const hooks = `export const resolve = (specifier, context, next) => {
    if (specifier === "@opentelemetry/sdk-node") throw new Error("not installed");
    return next(specifier, context);
  };`;
  const register = `import { register } from "node:module"; register(${JSON.stringify(
    `data:text/javascript,${encodeURIComponent(hooks)}`,
  )});`;
  const { statuses, warnings } = await runTraced({}, [
    "--import",
    `data:text/javascript,${encodeURIComponent(register)}`,
  ]);
  expect(statuses).toEqual([200, 503]);
  expect(warnings).toEqual([expect.stringContaining("@opentelemetry/sdk-node")]);
});

test("a collector that is not there delays the end by a moment at most", async () => {
  const startedMs = performance.now();
  const { statuses } = await runTraced({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" });
  expect(statuses).toEqual([200, 503]);
  expect(performance.now() - startedMs).toBeLessThan(20_000);
});
