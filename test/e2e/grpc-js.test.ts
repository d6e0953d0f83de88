/** `@grpc/grpc-js`, a gRPC client that others wrote, against a real daemon: over TCP and the socket, RPCs and health. */
import * as grpc from "@grpc/grpc-js";
import { afterAll, describe, expect, test } from "vitest";
import { daemonOfFile, startDaemon } from "../support/daemon.js";
import { conversation } from "./conversation.js";
import { type Refusal, service } from "./door.js";
import { addressOf, metadataFor, openGrpcDoor, refusalFrom, serviceClient } from "./grpc-door.js";

const daemon = daemonOfFile();
const places = ["TCP", "the socket"] as const;

const open: { close: () => void }[] = [];
afterAll(() => {
  for (const client of open) client.close();
});

describe.each(places)("grpc-js over %s", (place) => {
  conversation(
    () => {
      const door = openGrpcDoor(daemon(), place);
      open.push(door);
      return door;
    },
    { cutsConflicts: true },
  );
});

const Health = serviceClient(
  "grpc.health.v1.Health",
  "health/v1/health.proto",
  "node_modules/grpc-health-check/proto",
);

type HealthClient = grpc.Client & {
  check: (
    request: { service: string },
    callback: (error: grpc.ServiceError | null, answer: { status: string }) => void,
  ) => void;
  watch: (
    request: { service: string },
    options?: grpc.CallOptions,
  ) => grpc.ClientReadableStream<{ status: string }>;
};

function healthClient(address: string): HealthClient {
  const client = new Health(address, grpc.credentials.createInsecure()) as unknown as HealthClient;
  open.push(client);
  return client;
}

const check = (client: HealthClient, name: string): Promise<string> =>
  new Promise((resolve, reject) => {
    client.check({ service: name }, (error, answer) =>
      error === null ? resolve(answer.status) : reject(error),
    );
  });

/** All that a stream says, and the code that it ends with. */
function watch(client: HealthClient, name: string, options: grpc.CallOptions = {}) {
  const stream = client.watch({ service: name }, options);
  const told: string[] = [];
  let hear = (): void => {};
  const first = new Promise<void>((resolve) => {
    hear = resolve;
  });
  stream.on("data", ({ status }) => {
    told.push(status);
    hear();
  });
  const code = new Promise<number>((resolve) => {
    stream.on("error", (error: grpc.ServiceError) => resolve(error.code));
    stream.on("end", () => resolve(grpc.status.OK));
  });
  return { told, first, code };
}

describe.each(places)("grpc health over %s, without a token", (place) => {
  test.each(["", service])("says that %o is serving", async (name) => {
    expect(await check(healthClient(addressOf(daemon(), place)), name)).toBe("SERVING");
  });

  test("knows no other service", async () => {
    await expect(check(healthClient(addressOf(daemon(), place)), "acme.Other")).rejects.toMatchObject({
      code: grpc.status.NOT_FOUND,
    });
  });

  test("is watched until the deadline", async () => {
    const deadline = performance.timeOrigin + performance.now() + 400;
    const { told, code } = watch(healthClient(addressOf(daemon(), place)), service, { deadline });
    expect(await code).toBe(grpc.status.DEADLINE_EXCEEDED);
    expect(told.filter((status) => status !== "SERVING")).toEqual([]);
  });

  test("tells a watcher that the daemon goes, then ends as unavailable", async () => {
    const other = await startDaemon();
    const { told, first, code } = watch(healthClient(addressOf(other, place)), "");
    await first;
    const how = await other.stop();
    expect(await code).toBe(grpc.status.UNAVAILABLE);
    expect(told).toEqual(["SERVING", "NOT_SERVING"]);
    expect(how).toEqual({ code: 0, signal: null });
  });
});

describe("grpc-js is refused before a handler runs", () => {
  const call = (path: string, metadata: grpc.Metadata): Promise<Refusal> =>
    new Promise((resolve, reject) => {
      const client = new grpc.Client(addressOf(daemon(), "TCP"), grpc.credentials.createInsecure());
      open.push(client);
      const asIs = (bytes: Buffer): Buffer => bytes;
      client.makeUnaryRequest(path, asIs, asIs, Buffer.alloc(0), metadata, (error) =>
        error === null ? reject(new Error("it was answered")) : resolve(refusalFrom(error)),
      );
    });

  test.each([`/${service}/GetMemory`, "/acme.Other/Get"])("%s is unimplemented", async (path) => {
    const { code, info } = await call(path, metadataFor(daemon(), "TCP"));
    expect([code, info?.domain]).toEqual(["unimplemented", "memoryd"]);
  });

  test("without a token it is unauthenticated", async () => {
    const { code, info } = await call(`/${service}/GetCursor`, new grpc.Metadata());
    expect([code, info?.domain]).toEqual(["unauthenticated", "memoryd"]);
  });
});
