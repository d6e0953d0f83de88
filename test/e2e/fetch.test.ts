/** Programs without any library, by plain HTTP: what Connect's JSON looks like byte by byte, and compression. */
import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { daemonOfFile } from "../support/daemon.js";
import { conversation } from "./conversation.js";
import { type Door, type MethodName, Refusal, service } from "./door.js";

const daemon = daemonOfFile();

const headersWith = (more: Readonly<Record<string, string>> = {}) => ({
  authorization: `Bearer ${daemon().token}`,
  "content-type": "application/json",
  ...more,
});

const post = (
  method: MethodName,
  body: string | Buffer<ArrayBuffer>,
  more: Readonly<Record<string, string>> = {},
) => fetch(`${daemon().url}/${service}/${method}`, { method: "POST", headers: headersWith(more), body });

const door: Door = {
  async call(method, message, metadata) {
    const response = await post(method, JSON.stringify(message), metadata);
    const answer = await response.json();
    if (response.ok) return { message: answer, metadata: (name) => response.headers.get(name) ?? undefined };
    const details = (answer.details ?? []).map(({ type, value }: { type: string; value: string }) => ({
      type,
      value: Buffer.from(value, "base64"),
    }));
    throw new Refusal(answer.code, answer.message, details);
  },
};

describe("plain HTTP", () => {
  conversation(() => door);
});

test("a record's answer is its JSON and nothing else", async () => {
  const body =
    '{"memory":{"name":"cache-key-plan","type":"MEMORY_TYPE_DECISION","refs":[{"kind":"MEMORY_REF_KIND_NODE",' +
    '"target":"file:src/cache.ts"}],"body":" Key by content hash.\\n"},"allowMissing":true}';
  const response = await post("UpdateMemory", body, { "memoryd-workspace": "widget-8c7327e6e329" });
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
  expect(response.headers.get("x-request-id")).toMatch(/^[\w-]{8,}$/);
  const time = '"\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d{3})?Z"';
  expect(await response.text()).toMatch(
    new RegExp(
      '^{"memory":{"name":"cache-key-plan","type":"MEMORY_TYPE_DECISION","refs":\\[{"kind":"MEMORY_REF_KIND_NODE",' +
        `"target":"file:src/cache.ts"}\\],"body":"Key by content hash.","createTime":(${time}),"updateTime":\\1}}$`,
    ),
  );
});

test.each([
  { status: 400, code: "invalid_argument", method: "ListMemories", body: '{"pageSize":-1}' },
  { status: 404, code: "not_found", method: "DeleteMemory", body: '{"name":"gone"}' },
  { status: 400, code: "invalid_argument", method: "UpdateCursor", body: "{" },
] as const)("$method with $body is $status and says $code", async ({ status, code, method, body }) => {
  const response = await post(method, body);
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ code });
});

test("a conflict is 409 and says aborted", async () => {
  const workspace = { "memoryd-workspace": "conflicts" };
  await post("UpdateCursor", '{"content":"first"}', workspace);
  const absent = { ...workspace, "memoryd-if-update-time": "absent" };
  const response = await post("UpdateCursor", '{"content":"second"}', absent);
  expect(response.status).toBe(409);
  expect(await response.json()).toMatchObject({
    code: "aborted",
    details: [{ type: "google.rpc.ErrorInfo" }, { type: "memoryd.records.v1.WriteConflict" }],
  });
});

describe("compression", () => {
  const workspace = { "memoryd-workspace": `packed-${randomUUID()}` };
  const content = "what goes around ".repeat(1_000);

  test.each(["gzip", "br"])("a long answer comes in %s to whoever takes it", async (encoding) => {
    await post("UpdateCursor", JSON.stringify({ content }), workspace);
    const response = await post("GetCursor", "{}", { ...workspace, "accept-encoding": encoding });
    expect(response.headers.get("content-encoding")).toBe(encoding);
    expect(await response.json()).toEqual({ content });
  });

  test("a packed request is understood", async () => {
    const packed = gzipSync(JSON.stringify({ content: `${content}!` }));
    const response = await post("UpdateCursor", packed, { ...workspace, "content-encoding": "gzip" });
    expect(await response.json()).toEqual({ content: `${content}!` });
  });

  test("a bomb is refused, and the daemon lives on", async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, "a"));
    expect(bomb.length).toBeLessThan(100_000);
    const response = await post("UpdateCursor", bomb, { ...workspace, "content-encoding": "gzip" });
    expect(await response.json()).toMatchObject({ code: "resource_exhausted" });
    expect((await fetch(`${daemon().url}/readyz`)).status).toBe(200);
  });
});
