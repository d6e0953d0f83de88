/** gRPC health (daemon.md D13, D15): as a whole and for each service, without a token, in every protocol. */
import { Code, createClient } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { expect, test } from "vitest";
import { Health, HealthCheckResponse_ServingStatus as ServingStatus } from "../../gen/health/v1/health_pb.js";
import { silentLog } from "../../src/kernel/log.js";
import { createReadiness } from "../../src/server/readiness.js";
import { until } from "../support/until.js";
import { startTestServer } from "./support.js";

const services = [
  "",
  "magus.memory.v1.MemoryService",
  "grpc.health.v1.Health",
  "grpc.reflection.v1.ServerReflection",
];

function brokenOnDemand() {
  const state = { isBroken: false };
  const check = async () => {
    if (state.isBroken) throw new Error("broken");
  };
  return { state, components: [{ name: "storage", check }] };
}

test("Check and List answer for all and for each service, in every protocol", async () => {
  const { url: baseUrl = "" } = await startTestServer();
  for (const transport of [
    createGrpcTransport({ baseUrl }),
    createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
    createConnectTransport({ baseUrl, httpVersion: "1.1" }),
    createConnectTransport({ baseUrl, httpVersion: "2" }),
  ]) {
    const client = createClient(Health, transport);
    for (const service of services) {
      expect((await client.check({ service })).status).toBe(ServingStatus.SERVING);
    }
    await expect(client.check({ service: "no.such.Service" })).rejects.toMatchObject({ code: Code.NotFound });
    const { statuses } = await client.list({});
    expect(Object.keys(statuses)).toEqual(expect.arrayContaining(services));
  }
});

test("Check follows the components", async () => {
  const { state, components } = brokenOnDemand();
  const { url: baseUrl = "" } = await startTestServer({ parts: { components } });
  const client = createClient(Health, createGrpcTransport({ baseUrl }));
  const isNow = (status: ServingStatus) => async () => (await client.check({})).status === status;
  await until("all is well", isNow(ServingStatus.SERVING));
  state.isBroken = true;
  await until("it is not", isNow(ServingStatus.NOT_SERVING));
  state.isBroken = false;
  await until("all is well again", isNow(ServingStatus.SERVING));
});

test("Watch tells each change once, and waits for a service that is not there", async () => {
  const { state, components } = brokenOnDemand();
  const { url: baseUrl = "" } = await startTestServer({ parts: { components } });
  const client = createClient(Health, createGrpcTransport({ baseUrl }));
  const controller = new AbortController();
  const watch = (service: string) => {
    const heard: ServingStatus[] = [];
    (async () => {
      for await (const { status } of client.watch({ service }, { signal: controller.signal }))
        heard.push(status);
    })().catch(() => {});
    return heard;
  };
  const [known, unknown] = [watch("magus.memory.v1.MemoryService"), watch("no.such.Service")];
  await until("both are told", () => known.length === 1 && unknown.length === 1);
  state.isBroken = true;
  await until("the change is told", () => known.length === 2);
  state.isBroken = false;
  await until("the change back is told", () => known.length === 3);
  controller.abort();
  expect(known).toEqual([ServingStatus.SERVING, ServingStatus.NOT_SERVING, ServingStatus.SERVING]);
  expect(unknown).toEqual([ServingStatus.SERVICE_UNKNOWN]);
});

test("many who ask at once share one check, and a component that hangs counts as failing", async () => {
  let checks = 0;
  const readiness = createReadiness(
    [
      { name: "quick", check: async () => {} },
      {
        name: "stuck",
        check: () => {
          checks += 1;
          return new Promise(() => {});
        },
      },
    ],
    silentLog,
  );
  const answers = await Promise.all(Array.from({ length: 50 }, () => readiness.failing()));
  expect(new Set(answers)).toEqual(new Set(["stuck"]));
  expect(checks).toBe(1);
});
