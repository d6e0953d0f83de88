/** A gRPC client that others wrote (daemon.md D12, D20, D21), over TCP and the socket: calls, refusals, details. */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { describe, expect, onTestFinished, test } from "vitest";
import { StatusSchema } from "../../gen/google/rpc/status_pb.js";
import { GetCursorRequestSchema, GetCursorResponseSchema } from "../../gen/magus/memory/v1/memory_pb.js";
import { MemorydError } from "../../src/kernel/errors.js";
import { until } from "../support/until.js";
import { type StubHandlers, startTestServer, token } from "./support.js";

type Answer = { readonly content?: string; readonly error?: ServiceError };

function getCursor(target: string, { bearer = "", deadlineMs = 10_000 } = {}): Promise<Answer> {
  const client = new Client(target, credentials.createInsecure());
  onTestFinished(() => client.close());
  const metadata = new Metadata();
  if (bearer !== "") metadata.set("authorization", `Bearer ${bearer}`);
  return new Promise((resolve) => {
    client.makeUnaryRequest(
      "/magus.memory.v1.MemoryService/GetCursor",
      (request: object) =>
        Buffer.from(toBinary(GetCursorRequestSchema, create(GetCursorRequestSchema, request))),
      (bytes) => fromBinary(GetCursorResponseSchema, bytes),
      {},
      metadata,
      { deadline: Date.now() + deadlineMs },
      (error, answer) => resolve(error === null ? { content: answer?.content ?? "" } : { error }),
    );
  });
}

const start = async (handlers: StubHandlers = {}) => {
  const server = await startTestServer({ handlers });
  return { server, tcp: `127.0.0.1:${server.port}`, socket: `unix:${server.socket}` };
};

describe("@grpc/grpc-js", () => {
  test("calls over TCP with the token, and over the socket without", async () => {
    const { tcp, socket } = await start();
    expect(await getCursor(tcp, { bearer: token })).toEqual({ content: "here" });
    expect(await getCursor(socket)).toEqual({ content: "here" });
  });

  test("is told in a sentence that its token is missing or wrong", async () => {
    const { tcp, socket } = await start();
    for (const answer of [
      await getCursor(tcp),
      await getCursor(tcp, { bearer: "x" }),
      await getCursor(socket, { bearer: "x" }),
    ]) {
      expect(answer.error?.code).toBe(status.UNAUTHENTICATED);
      expect(answer.error?.details).toMatch(/^Send a valid token/);
    }
  });

  test("gets the details of an error", async () => {
    const { tcp } = await start({
      getCursor: () => {
        throw new MemorydError("failed_precondition", "Not now.", { reason: "NOT_NOW" });
      },
    });
    const { error } = await getCursor(tcp, { bearer: token });
    expect(error).toMatchObject({ code: status.FAILED_PRECONDITION, details: "Not now." });
    const [bytes] = error?.metadata.get("grpc-status-details-bin") ?? [];
    const details = fromBinary(StatusSchema, bytes as Buffer).details.map(({ typeUrl }) => typeUrl);
    expect(details).toEqual(["type.googleapis.com/google.rpc.ErrorInfo"]);
  });

  test("gets its deadline from the server, and unavailable from one that stops", async () => {
    const called: string[] = [];
    const { server, tcp } = await start({
      getCursor: () => {
        called.push("called");
        return new Promise(() => {});
      },
    });
    expect((await getCursor(tcp, { bearer: token, deadlineMs: 100 })).error?.code).toBe(
      status.DEADLINE_EXCEEDED,
    );
    const held = getCursor(tcp, { bearer: token });
    await until("the second is in progress", () => called.length === 2);
    await server.stop(0);
    expect((await held).error).toMatchObject({
      code: status.UNAVAILABLE,
      details: expect.stringContaining("stopping"),
    });
  });
});
