/** Errors of the wire as tests compare them: the code, and the details by what they say. */
import { fromBinary, fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect } from "vitest";
import { BadRequestSchema, ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import { type WriteConflict, WriteConflictSchema } from "../../gen/memoryd/records/v1/records_pb.js";
import { codeName } from "../../src/wire/connect.js";

export type Refusal = {
  readonly code: string;
  readonly reason?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /** The faulty fields, in order. */
  readonly fields?: readonly string[];
  /** What is stored, as JSON. */
  readonly conflict?: JsonValue;
};

type Detail = { readonly type: string; readonly value: Uint8Array };

/** What the details say; fails on one that memoryd never sends. */
function refusalFromDetails(code: string, details: readonly Detail[]): Refusal {
  let refusal: Refusal = { code };
  for (const { type, value } of details) {
    if (type === ErrorInfoSchema.typeName) {
      const { reason, domain, metadata } = fromBinary(ErrorInfoSchema, value);
      expect(domain).toBe("memoryd");
      refusal = { ...refusal, reason, ...(Object.keys(metadata).length > 0 ? { metadata } : {}) };
    } else if (type === BadRequestSchema.typeName) {
      const { fieldViolations } = fromBinary(BadRequestSchema, value);
      refusal = { ...refusal, fields: fieldViolations.map(({ field }) => field) };
    } else if (type === WriteConflictSchema.typeName) {
      refusal = { ...refusal, conflict: toJson(WriteConflictSchema, fromBinary(WriteConflictSchema, value)) };
    } else {
      expect.fail(`an error carries ${type}`);
    }
  }
  return refusal;
}

type ErrorBody = { code: string; message?: string; details?: { type: string; value: string }[] };

/** The error in the body of a Connect answer. */
export function refusalFromBody(body: string): Refusal {
  const { code, details = [] } = JSON.parse(body) as ErrorBody;
  return refusalFromDetails(
    code,
    details.map(({ type, value }) => ({ type, value: Buffer.from(value, "base64") })),
  );
}

/** What a person reads of that error: its message and what is said of each field. */
export function wordsFromBody(body: string): string {
  const { message = "", details = [] } = JSON.parse(body) as ErrorBody;
  const violations = details
    .filter(({ type }) => type === BadRequestSchema.typeName)
    .flatMap(({ value }) => fromBinary(BadRequestSchema, Buffer.from(value, "base64")).fieldViolations);
  return [message, ...violations.map(({ description }) => description)].join("\n");
}

/** The error that a client's call ends with. */
export async function errorOf(call: Promise<unknown>): Promise<ConnectError> {
  try {
    await call;
  } catch (error) {
    expect(error).toBeInstanceOf(ConnectError);
    return error as ConnectError;
  }
  return expect.fail("the call was answered");
}

/** What a client's call is refused with. */
export async function refusalOf(call: Promise<unknown>): Promise<Refusal> {
  const error = await errorOf(call);
  const details = error.details.map((detail) => {
    if (!("type" in detail)) return expect.fail("a detail was not received");
    return detail;
  });
  return refusalFromDetails(codeName(error.code), details);
}

/** The conflict of a refused call, as a message. */
export async function conflictOf(call: Promise<unknown>): Promise<WriteConflict> {
  const { code, conflict } = await refusalOf(call);
  expect(code).toBe(codeName(Code.Aborted));
  return fromJson(WriteConflictSchema, conflict ?? expect.fail("the error carries no conflict"));
}
