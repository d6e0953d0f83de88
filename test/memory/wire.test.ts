/**
 * The contract of `magus.memory.v1` as it is compiled (memory M1–M3): every name, number, type and label against
 * tables written by hand, and the whole descriptor against the stored copy, so that no drift goes unseen. How the
 * methods behave is tested elsewhere.
 */
import { existsSync, readFileSync } from "node:fs";
import {
  type DescEnum,
  type DescField,
  type DescMessage,
  type DescMethod,
  ScalarType,
  toJson,
} from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { createConnectRouter } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import * as contract from "../../gen/magus/memory/v1/memory_pb.js";
import { verifies } from "../support/verifies.js";

const file = contract.file_magus_memory_v1_memory;
const service = contract.MemoryService;
const packageName = "magus.memory.v1";

const here = (path: string): URL => new URL(path, import.meta.url);

function typeOf(field: DescField): string {
  switch (field.fieldKind) {
    case "scalar":
      return ScalarType[field.scalar].toLowerCase();
    case "message":
      return field.message.typeName;
    case "enum":
      return field.enum.typeName;
    case "list": {
      if (field.listKind === "scalar") return `repeated ${ScalarType[field.scalar].toLowerCase()}`;
      return `repeated ${(field.listKind === "enum" ? field.enum : field.message).typeName}`;
    }
    case "map":
      return "map";
  }
}

/** A message's fields in the order of the file, one line each: number, name, type. */
const linesOf = (message: DescMessage): readonly string[] =>
  message.fields.map((field) => `${field.number} ${field.name} ${typeOf(field)}`);

const valuesOf = (described: DescEnum): readonly string[] =>
  described.values.map(({ number, name }) => `${number} ${name}`);

/** Every handler of the service as Connect serves it, by method name. */
const handlers = new Map(
  createConnectRouter()
    .service(service, {})
    .handlers.map((handler) => [handler.method.name, handler]),
);

function expectMethod(method: DescMethod, request: DescMessage, response: DescMessage): void {
  expect(method.parent).toBe(service);
  expect(method.methodKind).toBe("unary");
  expect([method.input.typeName, method.output.typeName]).toEqual([request.typeName, response.typeName]);
  expect(method.idempotency).toBe(MethodOptions_IdempotencyLevel.IDEMPOTENCY_UNKNOWN);
  expect(method.proto.options).toBeUndefined();
  const handler = handlers.get(method.name);
  expect(handler?.requestPath).toBe(`/${packageName}.MemoryService/${method.name}`);
  expect(handler?.allowedMethods).toEqual(["POST"]);
}

describe("the file", () => {
  verifies("memory.wire.package-and-file", "has the contract's package and place", () => {
    expect(file.proto.package).toBe(packageName);
    expect(file.proto.syntax).toBe("proto3");
    expect(`proto/${file.proto.name}`).toBe("proto/magus/memory/v1/memory.proto");
    expect(existsSync(here(`../../proto/${file.proto.name}`))).toBe(true);
  });

  test("holds the messages, enums and methods of the contract and no others", () => {
    expect(file.messages.map(({ name }) => name).sort()).toEqual([
      "DeleteMemoryRequest",
      "DeleteMemoryResponse",
      "GetCursorRequest",
      "GetCursorResponse",
      "ListMemoriesRequest",
      "ListMemoriesResponse",
      "Memory",
      "MemoryRef",
      "UpdateCursorRequest",
      "UpdateCursorResponse",
      "UpdateMemoryRequest",
      "UpdateMemoryResponse",
    ]);
    expect(file.enums.map(({ name }) => name).sort()).toEqual(["MemoryRefKind", "MemoryType"]);
    expect(file.services.map(({ typeName }) => typeName)).toEqual([`${packageName}.MemoryService`]);
    expect(service.methods.map(({ name }) => name).sort()).toEqual([
      "DeleteMemory",
      "GetCursor",
      "ListMemories",
      "UpdateCursor",
      "UpdateMemory",
    ]);
    expect(file.extensions).toEqual([]);
  });

  test("has no options, nested types, oneofs or optional labels", () => {
    expect(service.proto.options).toBeUndefined();
    for (const message of file.messages) {
      expect([message.nestedMessages, message.nestedEnums, message.oneofs]).toEqual([[], [], []]);
      expect(message.proto.options).toBeUndefined();
      expect(message.fields.filter(({ proto }) => proto.proto3Optional || proto.options)).toEqual([]);
    }
  });

  test("is, as a whole, what the stored copy says", () => {
    const stored: unknown = JSON.parse(readFileSync(here("../vectors/magus-memory-v1.json"), "utf8"));
    expect(toJson(FileDescriptorProtoSchema, file.proto)).toEqual(stored);
  });
});

describe("the methods are unary POSTs without an idempotency level", () => {
  const { listMemories, updateMemory, deleteMemory, getCursor, updateCursor } = service.method;

  verifies("memory.wire.list-memories", "ListMemories", () => {
    expectMethod(listMemories, contract.ListMemoriesRequestSchema, contract.ListMemoriesResponseSchema);
  });
  verifies("memory.wire.update-memory", "UpdateMemory", () => {
    expectMethod(updateMemory, contract.UpdateMemoryRequestSchema, contract.UpdateMemoryResponseSchema);
  });
  verifies("memory.wire.delete-memory", "DeleteMemory", () => {
    expectMethod(deleteMemory, contract.DeleteMemoryRequestSchema, contract.DeleteMemoryResponseSchema);
  });
  verifies("memory.wire.get-cursor", "GetCursor", () => {
    expectMethod(getCursor, contract.GetCursorRequestSchema, contract.GetCursorResponseSchema);
  });
  verifies("memory.wire.update-cursor", "UpdateCursor", () => {
    expectMethod(updateCursor, contract.UpdateCursorRequestSchema, contract.UpdateCursorResponseSchema);
  });
});

describe("the messages have the contract's fields", () => {
  verifies("memory.wire.memory-message", "Memory", () => {
    expect(linesOf(contract.MemorySchema)).toEqual([
      "1 name string",
      "2 type magus.memory.v1.MemoryType",
      "3 refs repeated magus.memory.v1.MemoryRef",
      "4 status string",
      "5 body string",
      "6 references repeated string",
      "7 create_time google.protobuf.Timestamp",
      "8 update_time google.protobuf.Timestamp",
    ]);
  });
  verifies("memory.wire.memory-ref", "MemoryRef", () => {
    expect(linesOf(contract.MemoryRefSchema)).toEqual([
      "1 kind magus.memory.v1.MemoryRefKind",
      "2 target string",
    ]);
  });
  verifies("memory.wire.list-memories-request", "ListMemoriesRequest", () => {
    expect(linesOf(contract.ListMemoriesRequestSchema)).toEqual(["1 page_size int32", "2 page_token string"]);
  });
  verifies("memory.wire.list-memories-response", "ListMemoriesResponse", () => {
    expect(linesOf(contract.ListMemoriesResponseSchema)).toEqual([
      "1 memories repeated magus.memory.v1.Memory",
      "2 next_page_token string",
    ]);
  });
  verifies("memory.wire.update-memory-request", "UpdateMemoryRequest", () => {
    expect(linesOf(contract.UpdateMemoryRequestSchema)).toEqual([
      "1 memory magus.memory.v1.Memory",
      "2 update_mask google.protobuf.FieldMask",
      "3 allow_missing bool",
    ]);
  });
  verifies("memory.wire.update-memory-response", "UpdateMemoryResponse", () => {
    expect(linesOf(contract.UpdateMemoryResponseSchema)).toEqual(["1 memory magus.memory.v1.Memory"]);
  });
  verifies("memory.wire.delete-memory-request", "DeleteMemoryRequest", () => {
    expect(linesOf(contract.DeleteMemoryRequestSchema)).toEqual(["1 name string", "2 allow_missing bool"]);
  });
  verifies("memory.wire.delete-memory-response", "DeleteMemoryResponse has none", () => {
    expect(linesOf(contract.DeleteMemoryResponseSchema)).toEqual([]);
  });
  verifies("memory.wire.get-cursor-request", "GetCursorRequest has none", () => {
    expect(linesOf(contract.GetCursorRequestSchema)).toEqual([]);
  });
  verifies("memory.wire.get-cursor-response", "GetCursorResponse", () => {
    expect(linesOf(contract.GetCursorResponseSchema)).toEqual(["1 content string"]);
  });
  verifies("memory.wire.update-cursor-request", "UpdateCursorRequest", () => {
    expect(linesOf(contract.UpdateCursorRequestSchema)).toEqual(["1 content string"]);
  });
  verifies("memory.wire.update-cursor-response", "UpdateCursorResponse", () => {
    expect(linesOf(contract.UpdateCursorResponseSchema)).toEqual(["1 content string"]);
  });
});

describe("the enums have the contract's values", () => {
  verifies("memory.wire.memory-ref-kind", "MemoryRefKind", () => {
    expect(valuesOf(contract.MemoryRefKindSchema)).toEqual([
      "0 MEMORY_REF_KIND_UNSPECIFIED",
      "1 MEMORY_REF_KIND_QUERY",
      "2 MEMORY_REF_KIND_NODE",
      "3 MEMORY_REF_KIND_OUTPUT",
      "4 MEMORY_REF_KIND_COMMAND",
      "5 MEMORY_REF_KIND_DOC",
    ]);
  });
  verifies("memory.wire.memory-type", "MemoryType", () => {
    expect(valuesOf(contract.MemoryTypeSchema)).toEqual([
      "0 MEMORY_TYPE_UNSPECIFIED",
      "1 MEMORY_TYPE_POINTER",
      "2 MEMORY_TYPE_DECISION",
      "3 MEMORY_TYPE_PLAN",
    ]);
  });
});
