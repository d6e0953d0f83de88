/** Server reflection (daemon.md D13): enough for clients that have no `.proto`, of which `buf curl` is one. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create, createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { describe, expect, test } from "vitest";
import {
  ServerReflection,
  type ServerReflectionRequestSchema,
} from "../../gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionAlpha } from "../../gen/grpc/reflection/v1alpha/reflection_pb.js";
import { startTestServer, token } from "./support.js";

type Question = MessageInitShape<typeof ServerReflectionRequestSchema>["messageRequest"];

async function ask(baseUrl: string, questions: readonly Question[], service = ServerReflection) {
  const client = createClient(service, createGrpcTransport({ baseUrl }));
  async function* requests() {
    for (const messageRequest of questions) yield { messageRequest: messageRequest as never };
  }
  const answers = [];
  for await (const { messageResponse } of client.serverReflectionInfo(requests()))
    answers.push(messageResponse);
  return answers;
}

const filesIn = (answer: Awaited<ReturnType<typeof ask>>[number] | undefined): readonly string[] =>
  answer?.case === "fileDescriptorResponse"
    ? answer.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes).name)
    : [];

describe.each([
  ["v1", ServerReflection],
  ["v1alpha", ServerReflectionAlpha as never as typeof ServerReflection],
])("%s", (_version, service) => {
  test("lists the services and hands out the files of one, complete with what they import", async () => {
    const { url = "" } = await startTestServer();
    const [services, files] = await ask(
      url,
      [
        { case: "listServices", value: "" },
        { case: "fileContainingSymbol", value: "magus.memory.v1.MemoryService" },
      ],
      service,
    );
    expect(services?.value).toMatchObject({
      service: [
        { name: "grpc.health.v1.Health" },
        { name: "grpc.reflection.v1.ServerReflection" },
        { name: "grpc.reflection.v1alpha.ServerReflection" },
        { name: "magus.memory.v1.MemoryService" },
      ],
    });
    if (files?.case !== "fileDescriptorResponse") throw new Error("no files came");
    const file = files.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
    const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: file.reverse() }));
    expect(registry.getService("magus.memory.v1.MemoryService")?.methods).toHaveLength(5);
  });
});

test.each<[Question, readonly string[] | string]>([
  [{ case: "fileByFilename", value: "magus/memory/v1/memory.proto" }, ["magus/memory/v1/memory.proto"]],
  [{ case: "fileByFilename", value: "google/protobuf/timestamp.proto" }, ["google/protobuf/timestamp.proto"]],
  [{ case: "fileByFilename", value: "nothing.proto" }, "errorResponse"],
  [
    { case: "fileContainingSymbol", value: "magus.memory.v1.MemoryService.GetCursor" },
    ["magus/memory/v1/memory.proto"],
  ],
  [{ case: "fileContainingSymbol", value: "magus.memory.v1.Memory.name" }, ["magus/memory/v1/memory.proto"]],
  [{ case: "fileContainingSymbol", value: "google.rpc.ErrorInfo" }, ["google/rpc/error_details.proto"]],
  [{ case: "fileContainingSymbol", value: "magus.memory.v1.Memory.nothing" }, "errorResponse"],
  [{ case: "fileContainingSymbol", value: "" }, "errorResponse"],
  [
    {
      case: "fileContainingExtension",
      value: { containingType: "magus.memory.v1.Memory", extensionNumber: 1 },
    },
    "errorResponse",
  ],
  [{ case: "allExtensionNumbersOfType", value: "magus.memory.v1.Memory" }, "allExtensionNumbersResponse"],
  [{ case: "allExtensionNumbersOfType", value: "nothing" }, "errorResponse"],
  [{ case: undefined }, "errorResponse"],
])("%o is answered by %o", async (question, expected) => {
  const { url = "" } = await startTestServer();
  const [answer] = await ask(url, [question]);
  if (typeof expected === "string") expect(answer?.case).toBe(expected);
  else expect(filesIn(answer)).toEqual(expect.arrayContaining([...expected]));
});

test("a file that was asked for twice on one stream comes twice, what it imports once", async () => {
  const { url = "" } = await startTestServer();
  const question: Question = { case: "fileByFilename", value: "magus/memory/v1/memory.proto" };
  const [first, second] = await ask(url, [question, question]);
  expect(filesIn(first).length).toBeGreaterThan(1);
  expect(filesIn(second)).toEqual(["magus/memory/v1/memory.proto"]);
});

test("over HTTP/1.1 it says that streams in both directions need HTTP/2", async () => {
  const { url: baseUrl = "" } = await startTestServer();
  const response = await fetch(`${baseUrl}/grpc.reflection.v1.ServerReflection/ServerReflectionInfo`, {
    method: "POST",
    headers: { "content-type": "application/connect+proto" },
    body: new Uint8Array(5),
  });
  expect(response.status).toBe(505);
  expect(response.headers.get("connection")).toBe("close");
  await expect(
    createClient(ServerReflection, createConnectTransport({ baseUrl, httpVersion: "1.1" }))
      .serverReflectionInfo((async function* () {})())
      [Symbol.asyncIterator]()
      .next(),
  ).rejects.toThrow();
});

const run = promisify(execFile);

test.each(["connect", "grpc", "grpcweb"])("buf curl calls by %s without a schema", async (protocol) => {
  const { url = "" } = await startTestServer();
  const { stdout } = await run("node_modules/.bin/buf", [
    "curl",
    "--protocol",
    protocol,
    "--http2-prior-knowledge",
    "--header",
    `Authorization: Bearer ${token}`,
    "--data",
    "{}",
    `${url}/magus.memory.v1.MemoryService/GetCursor`,
  ]);
  expect(JSON.parse(stdout)).toEqual({ content: "here" });
});

test("buf curl shows the sentence and the details of a refusal", async () => {
  const { url = "" } = await startTestServer();
  const args = ["curl", "--protocol", "grpc", "--http2-prior-knowledge", "--data", "{}"];
  const failure = await run("node_modules/.bin/buf", [
    ...args,
    `${url}/magus.memory.v1.MemoryService/GetCursor`,
  ]).catch((error: { stderr: string }) => error);
  expect(failure.stderr).toContain("unauthenticated");
  expect(failure.stderr).toContain("Send a valid token");
});
