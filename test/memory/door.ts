/**
 * The public door of the memory domain for tests: memoryd in this process, on SQLite in memory or on disk,
 * called by the typed client or by raw requests as they would come over HTTP. Nothing is replaced by a double
 * but the clock, where a test needs to set it.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient, createConnectRouter, type Transport } from "@connectrpc/connect";
import { createUniversalHandlerClient } from "@connectrpc/connect/protocol";
import { createTransport as createGrpcTransport } from "@connectrpc/connect/protocol-grpc";
import { createTransport as createGrpcWebTransport } from "@connectrpc/connect/protocol-grpc-web";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { MemoryService } from "../../gen/magus/memory/v1/memory_pb.js";
import { RecordService } from "../../gen/memoryd/records/v1/records_pb.js";
import { type App, createApp } from "../../src/app.js";
import { type Environment, readEnvironment } from "../../src/config/env.js";
import { type Config, loadConfig } from "../../src/config/load.js";
import { type Clock, systemClock } from "../../src/kernel/clock.js";
import type { Log } from "../../src/kernel/log.js";
import { pathOf } from "./methods.js";

/** What every test of this domain runs on. */
export const engines = ["SQLite in memory", "SQLite on disk"] as const;
export type Engine = (typeof engines)[number];

/** The machine's time until it is set. */
export type TestClock = Clock & { readonly set: (atMs: number | undefined) => void };

export function createTestClock(startMs?: number): TestClock {
  let nowMs = startMs;
  return {
    nowMs: () => nowMs ?? systemClock.nowMs(),
    set: (atMs) => {
      nowMs = atMs;
    },
  };
}

export type Metadata = readonly (readonly [name: string, value: string])[];

export type Answer = { readonly status: number; readonly header: Headers; readonly body: Uint8Array };

/** The ways into a service without a network. */
export type Calls = {
  /** A Connect request by hand: a text is sent as JSON, bytes as binary. */
  readonly post: (method: string, body: string | Uint8Array, metadata?: Metadata) => Promise<Answer>;
  readonly transportOf: (protocol: "grpc" | "grpc-web") => Transport;
};

const origin = "https://memoryd.invalid";

async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}

export function callsTo({
  registerRoutes,
  interceptors,
}: Pick<App, "registerRoutes" | "interceptors">): Calls {
  const router = createConnectRouter({ interceptors: [...interceptors] });
  registerRoutes(router);
  const httpClient = createUniversalHandlerClient(router.handlers);
  const transportOptions = {
    httpClient,
    baseUrl: origin,
    useBinaryFormat: true,
    interceptors: [],
    acceptCompression: [],
    sendCompression: null,
    compressMinBytes: Number.MAX_SAFE_INTEGER,
    readMaxBytes: Number.MAX_SAFE_INTEGER,
    writeMaxBytes: Number.MAX_SAFE_INTEGER,
  };
  return {
    post: async (method, body, metadata = []) => {
      const isText = typeof body === "string";
      const header = new Headers({ "content-type": isText ? "application/json" : "application/proto" });
      for (const [name, value] of metadata) header.append(name, value);
      const sent = isText ? Buffer.from(body, "utf8") : body;
      const answer = await httpClient({
        url: `${origin}${pathOf(method)}`,
        method: "POST",
        header,
        body: (async function* () {
          yield sent;
        })(),
      });
      return { status: answer.status, header: answer.header, body: await bytesOf(answer.body) };
    },
    transportOf: (protocol) =>
      protocol === "grpc" ? createGrpcTransport(transportOptions) : createGrpcWebTransport(transportOptions),
  };
}

export type Door = Calls & {
  readonly app: App;
  readonly client: Client<typeof MemoryService>;
  readonly records: Client<typeof RecordService>;
  /** The database file; absent in memory. */
  readonly databaseFile: string | undefined;
  readonly close: () => Promise<void>;
};

export type DoorOptions = {
  /** Option values by key. */
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly clock?: Clock;
  readonly log?: Log;
  /** A folder that outlives the door; a fresh one that goes with it when left out. */
  readonly folder?: string;
};

export const createFolder = (): string => mkdtempSync(join(tmpdir(), "memoryd-memory-"));
export const removeFolder = (folder: string): void => rmSync(folder, { recursive: true, force: true });

/** The configuration of tests: nothing of the user's own variables and files. */
export function configIn(folder: string, flags: Readonly<Record<string, unknown>>): Config {
  const environment: Environment = { ...readEnvironment(), variables: {}, homeDir: folder };
  return loadConfig({ flags, environment });
}

/** Opens memoryd on an engine. Whoever opens it closes it. */
export async function openDoor(engine: Engine, options: DoorOptions = {}): Promise<Door> {
  const folder = options.folder ?? createFolder();
  const databaseFile = engine === "SQLite on disk" ? join(folder, "memoryd.db") : undefined;
  const url = databaseFile === undefined ? "sqlite::memory:" : `sqlite:${databaseFile}`;
  const { clock = systemClock } = options;
  const app = await createApp(configIn(folder, { "database.url": url, ...options.flags }), {
    clock,
    ...(options.log === undefined ? {} : { log: options.log }),
  });
  return {
    ...callsTo(app),
    app,
    client: createClient(MemoryService, app.transport),
    records: createClient(RecordService, app.transport),
    databaseFile,
    close: async () => {
      await app.close();
      if (options.folder === undefined) removeFolder(folder);
    },
  };
}

/** A door that closes with the test. */
export async function doorForTest(engine: Engine, options: DoorOptions = {}): Promise<Door> {
  const door = await openDoor(engine, options);
  onTestFinished(() => door.close());
  return door;
}

/** One door for all tests of a group. */
export function useDoor(engine: Engine, options: DoorOptions = {}): () => Door {
  let door: Door | undefined;
  beforeAll(async () => {
    door = await openDoor(engine, options);
  });
  afterAll(() => door?.close());
  return () => {
    if (door === undefined) throw new Error("the door is used outside of a test");
    return door;
  };
}
