/** A real server on free ports and a socket in a temporary folder, with a stub of MemoryService behind it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConnectRouter, ServiceImpl } from "@connectrpc/connect";
import { onTestFinished } from "vitest";
import { MemoryService } from "../../gen/magus/memory/v1/memory_pb.js";
import { readEnvironment } from "../../src/config/env.js";
import { type Config, loadConfig } from "../../src/config/load.js";
import type { LogFields } from "../../src/kernel/log.js";
import { type RunningServer, type ServerParts, startServer } from "../../src/server/server.js";
import { createCallInterceptor } from "../../src/wire/connect.js";

export const token = "a-token-of-the-operator-0123456789";

export type LogLine = { readonly level: string; readonly fields: LogFields; readonly message: string };

export function recordingLog() {
  const lines: LogLine[] = [];
  const write = (level: string) => (fields: LogFields, message: string) => {
    lines.push({ level, fields, message });
  };
  return {
    lines,
    log: { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") },
  };
}

/** A folder that is gone when the test is over; its path is short enough for a socket. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "memoryd-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function configFor(folder: string, flags: Readonly<Record<string, unknown>> = {}): Config {
  return loadConfig({
    environment: { ...readEnvironment(), variables: {} },
    flags: { data_dir: folder, "listen.address": "127.0.0.1:0", "database.url": "sqlite::memory:", ...flags },
  });
}

export type StubHandlers = Partial<ServiceImpl<typeof MemoryService>>;

/** Answers with empty messages, unless the test says otherwise. */
export const stubRoutes =
  (handlers: StubHandlers = {}) =>
  (router: ConnectRouter): void => {
    router.service(MemoryService, {
      listMemories: () => ({}),
      updateMemory: ({ memory }) => (memory === undefined ? {} : { memory }),
      deleteMemory: () => ({}),
      getCursor: () => ({ content: "here" }),
      updateCursor: () => ({}),
      ...handlers,
    });
  };

export type TestServer = RunningServer & {
  readonly config: Config;
  readonly port: number;
  readonly lines: readonly LogLine[];
};

export type TestServerOptions = {
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly handlers?: StubHandlers;
  readonly parts?: Partial<ServerParts>;
};

/** A server that stops when the test is over. */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const server = await openTestServer(temporaryFolder(), options);
  onTestFinished(async () => {
    await server.stop(0);
  });
  return server;
}

/** A server in `folder` that whoever opened it stops. */
export async function openTestServer(
  folder: string,
  { flags = {}, handlers = {}, parts = {} }: TestServerOptions = {},
): Promise<TestServer> {
  const config = configFor(folder, flags);
  const { log, lines } = recordingLog();
  const server = await startServer({
    config,
    log,
    clock: { nowMs: () => 0 },
    version: "0.0.0",
    instance: "instance-of-the-test",
    operator: { user: "ada", right: "admin" },
    operatorToken: token,
    registerRoutes: stubRoutes(handlers),
    interceptors: [createCallInterceptor(log)],
    exposedHeaders: ["memoryd-etag"],
    allowedHeaders: ["memoryd-if-match"],
    components: [{ name: "storage", check: async () => {} }],
    status: async () => ({ version: "0.0.0" }),
    gauges: [],
    ...parts,
  });
  const port = server.url === undefined ? 0 : Number(new URL(server.url).port);
  return { ...server, config, port, lines };
}

/** Whether the server answers a plain call with a token, as a client in good standing would send it. */
export async function answersNormally(port: number): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/magus.memory.v1.MemoryService/GetCursor`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: "{}",
  });
  return response.status === 200 && (await response.text()) === '{"content":"here"}';
}
