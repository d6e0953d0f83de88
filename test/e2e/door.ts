/**
 * One shape for all clients, so that each holds the same conversation: a door takes a method and a message as
 * protobuf JSON, and answers with protobuf JSON or throws a {@link Refusal} with its details decoded.
 */
import { createRegistry, fromBinary, type JsonObject, toJson } from "@bufbuild/protobuf";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  file_google_rpc_error_details,
} from "../../gen/google/rpc/error_details_pb.js";
import { file_magus_memory_v1_memory } from "../../gen/magus/memory/v1/memory_pb.js";
import {
  file_memoryd_records_v1_records,
  WriteConflictSchema,
} from "../../gen/memoryd/records/v1/records_pb.js";

export const service = "magus.memory.v1.MemoryService";

export const methods = ["ListMemories", "UpdateMemory", "DeleteMemory", "GetCursor", "UpdateCursor"] as const;
export type MethodName = (typeof methods)[number];

export type Metadata = Readonly<Record<string, string>>;

export type Answer = {
  readonly message: JsonObject;
  /** Response metadata, wherever the protocol carries it. */
  readonly metadata: (name: string) => string | undefined;
};

export type Door = {
  readonly call: (method: MethodName, message: JsonObject, metadata?: Metadata) => Promise<Answer>;
};

/** A detail as it travels: the name of its type, and the message in binary. */
export type RawDetail = { readonly type: string; readonly value: Uint8Array };

const registry = createRegistry(
  file_google_rpc_error_details,
  file_memoryd_records_v1_records,
  file_magus_memory_v1_memory,
);

/** The details that are of `type`, as protobuf JSON. */
function decode(details: readonly RawDetail[], type: string): readonly JsonObject[] {
  const schema = registry.getMessage(type);
  if (schema === undefined) throw new Error(`${type} is none of the details that are looked for`);
  return details
    .filter((detail) => detail.type === type)
    .map(({ value }) => toJson(schema, fromBinary(schema, value)) as JsonObject);
}

/** An error as the daemon meant it, whatever protocol it came by. */
export class Refusal extends Error {
  /** ErrorInfo, which every error carries once. */
  readonly info: JsonObject | undefined;
  /** The fields that are refused, in order. */
  readonly fields: readonly string[];
  readonly conflict: JsonObject | undefined;

  constructor(
    /** In snake_case, as Connect spells it. */
    readonly code: string,
    message: string,
    details: readonly RawDetail[],
  ) {
    super(message);
    this.info = decode(details, ErrorInfoSchema.typeName)[0];
    const [badRequest] = decode(details, BadRequestSchema.typeName);
    const violations = (badRequest?.fieldViolations ?? []) as { field: string }[];
    this.fields = violations.map(({ field }) => field);
    this.conflict = decode(details, WriteConflictSchema.typeName)[0];
  }
}

/** What a call is refused with; fails when it is answered, or fails otherwise. */
export async function refusalOf(call: Promise<unknown>): Promise<Refusal> {
  try {
    await call;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error("the call was answered, not refused");
}
