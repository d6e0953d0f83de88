/** WatchRecords of a real daemon: through every protocol, over kills and stops, and with readers that stall. */
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  Http2SessionManager,
} from "@connectrpc/connect-node";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { MemoryRefKind, MemoryService, MemoryType } from "../../gen/magus/memory/v1/memory_pb.js";
import { RecordService } from "../../gen/memoryd/records/v1/records_pb.js";
import { briefOf, readerOf } from "../memory/watching.js";
import { type Daemon, startDaemon } from "../support/daemon.js";
import { temporaryFolder } from "../support/folder.js";
import { until } from "../support/until.js";
import { verifies } from "../support/verifies.js";
import { withToken } from "./connect-door.js";

// Thousands of writes and a dozen starts; on a machine that does something else at the same time they take their time.
vi.setConfig({ testTimeout: 240_000 });

type TransportOf = (daemon: Daemon) => Transport;

const transports: Readonly<Record<string, TransportOf>> = {
  "Connect over HTTP/1.1": ({ url, token }) =>
    createConnectTransport({ baseUrl: url, httpVersion: "1.1", interceptors: [withToken(token)] }),
  "gRPC over HTTP/2": ({ url, token }) => {
    const sessionManager = new Http2SessionManager(url);
    onTestFinished(() => sessionManager.abort());
    return createGrpcTransport({ baseUrl: url, interceptors: [withToken(token)], sessionManager });
  },
  "gRPC-Web over HTTP/1.1": ({ url, token }) =>
    createGrpcWebTransport({ baseUrl: url, httpVersion: "1.1", interceptors: [withToken(token)] }),
  "Connect over the socket": ({ socket }) =>
    createConnectTransport({
      baseUrl: "http://localhost",
      httpVersion: "1.1",
      nodeOptions: { socketPath: socket },
    }),
};
const [firstTransport] = Object.values(transports) as [TransportOf];

/** The calls of a test, and its watches, which end with it at the latest. */
function callsTo(daemon: Daemon, transportOf: TransportOf = firstTransport) {
  const transport = transportOf(daemon);
  const memory = createClient(MemoryService, transport);
  const records = createClient(RecordService, transport);
  const refs = [{ kind: MemoryRefKind.DOC, target: "docs/api.md" }];
  return {
    records,
    put: (name: string, body = "") =>
      memory.updateMemory({
        memory: { name, type: MemoryType.DECISION, refs, body },
        allowMissing: true,
      }),
    watch: (request: { position?: string; includeRecords?: boolean } = {}) => {
      const controller = new AbortController();
      onTestFinished(() => controller.abort());
      const reader = readerOf(records.watchRecords(request, { signal: controller.signal }));
      return { ...reader, drop: () => controller.abort() };
    },
  };
}

async function metricOf({ url, token }: Daemon, name: string): Promise<number> {
  const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  const value = new RegExp(`^${name} (.+)$`, "m").exec(await answer.text())?.[1];
  return value === undefined ? Number.NaN : Number(value);
}

const codeOf = async (call: Promise<unknown>): Promise<Code | undefined> =>
  call.then(
    () => undefined,
    (error: unknown) => ConnectError.from(error).code,
  );

describe.each(Object.entries(transports))("a watch by %s", (_name, transportOf) => {
  verifies("MV62", "tells 5 writes in order over a drop and a kill -9", async () => {
    const folder = temporaryFolder();
    const first = await startDaemon({ folder });
    const calls = callsTo(first, transportOf);
    const watch = calls.watch();
    expect(briefOf(await watch.next())).toBe("ready");
    for (const name of ["a", "b", "c"]) await calls.put(name);
    const told = await watch.take(3);
    watch.drop();
    for (const name of ["d", "e"]) await calls.put(name);
    await first.kill();
    const second = await startDaemon({ folder });
    const again = callsTo(second, transportOf);
    const resumed = again.watch({ position: told.at(-1)?.position ?? "" });
    const [ready, ...rest] = await resumed.take(3);
    expect(ready?.event.case).toBe("ready");
    expect([...told, ...rest].map(briefOf)).toEqual(
      ["a", "b", "c", "d", "e"].map((name) => `created ${name}`),
    );
    await again.put("f");
    expect(briefOf(await resumed.next())).toBe("created f");
  });
});

test("what a watch was told is there after a kill -9, whenever it comes (MV62)", async () => {
  const folder = temporaryFolder();
  let position = "";
  let told: { revision: bigint; name: string }[] = [];
  for (const round of [1, 2, 3, 4]) {
    const daemon = await startDaemon({ folder });
    const { put, records, watch } = callsTo(daemon);
    for (const { name, revision } of told.slice(-40)) {
      expect((await records.getRecord({ name })).record).toMatchObject({ revision, memory: { name } });
    }
    told = [];
    const reader = watch({ position });
    expect(briefOf(await reader.next())).toBe("ready");
    let isOver = false;
    const write = async (writer: number): Promise<void> => {
      for (let n = 0; !isOver; n += 1) await put(`r${round}-w${writer}-n${n}`).catch(() => {});
    };
    const writers = [1, 2, 3, 4, 5, 6].map(write);
    const reading = (async () => {
      for (;;) {
        const message = await reader.next();
        position = message.position;
        if (message.event.case === "change") told.push(message.event.value);
      }
    })().catch(() => {});
    await until("changes come", () => told.length > 40 * round);
    await daemon.kill();
    isOver = true;
    await Promise.all([reading, ...writers]);
  }
});

verifies("D7", "a stop ends watches with unavailable at once", async () => {
  const daemon = await startDaemon();
  const watches = Object.values(transports).map((transportOf) => callsTo(daemon, transportOf).watch());
  await Promise.all(watches.map(({ next }) => next()));
  const codes = Promise.all(watches.map(({ next }) => codeOf(next())));
  expect(await daemon.stop()).toEqual({ code: 0, signal: null });
  expect(await codes).toEqual(watches.map(() => Code.Unavailable));
});

test("watches are counted, at most 64, and one whose client is gone makes room", async () => {
  const daemon = await startDaemon();
  const { watch } = callsTo(daemon);
  const watches = Array.from({ length: 64 }, () => watch());
  await Promise.all(watches.map(({ next }) => next()));
  expect(await metricOf(daemon, "memoryd_open_watches")).toBe(64);
  expect(await codeOf(watch().next())).toBe(Code.ResourceExhausted);
  for (const { drop } of watches.slice(0, 60)) drop();
  await until("they are forgotten", async () => (await metricOf(daemon, "memoryd_open_watches")) === 4);
  expect(briefOf(await watch().next())).toBe("ready");
});

test("readers that stall while 5,000 records are written cost no memory, and are then told them all", async () => {
  const preload = [fileURLToPath(new URL("memory-use-preload.mjs", import.meta.url))];
  const daemon = await startDaemon({ preload });
  const heldBytes = async (): Promise<number> => {
    daemon.child.send("how much?");
    const [bytes] = await once(daemon.child, "message");
    return Number(bytes);
  };
  const { put } = callsTo(daemon, transports["Connect over the socket"]);
  const readers = ["Connect over HTTP/1.1", "gRPC over HTTP/2"].map((name) =>
    callsTo(daemon, transports[name]).watch({ includeRecords: true }),
  );
  await Promise.all(readers.map(({ next }) => next()));
  const body = "x".repeat(8_000);
  const names = Array.from({ length: 50 }, (_, index) => `n-${index}`);
  const writeRounds = async (rounds: number): Promise<void> => {
    for (let round = 0; round < rounds; round += 1) await Promise.all(names.map((name) => put(name, body)));
  };
  // By then everything is loaded and compiled that will be.
  await writeRounds(20);
  expect(await metricOf(daemon, "memoryd_write_queue_depth")).toBe(0);
  const before = await heldBytes();
  await writeRounds(80);
  expect(await metricOf(daemon, "memoryd_write_queue_depth")).toBe(0);
  // Each reader has 32 MB more to come.
  expect((await heldBytes()) - before).toBeLessThan(8 * 1024 * 1024);
  for (const { take, drop } of readers) {
    const revisions = (await take(5_000)).map(({ event }) =>
      event.case === "change" ? Number(event.value.revision) : 0,
    );
    expect(revisions).toEqual(Array.from({ length: 5_000 }, (_, index) => index + 1));
    drop();
  }
});
