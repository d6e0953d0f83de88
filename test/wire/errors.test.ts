/**
 * The error table of the design, section 3, cell by cell where it has code already: the Connect and REST
 * columns. Exit codes are proven with the commands.
 */
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { errorToJson } from "@connectrpc/connect/protocol-connect";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BadRequestSchema, ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import { WriteConflictSchema } from "../../gen/memoryd/records/v1/records_pb.js";
import {
  type ErrorCode,
  errorCodes,
  type FieldViolation,
  invalidArgument,
  MemorydError,
} from "../../src/kernel/errors.js";
import { codeName } from "../../src/wire/connect.js";
import { connectCodes, connectErrorFrom, httpStatuses } from "../../src/wire/errors.js";
import { memorydErrorFromConnect } from "../../src/wire/received.js";

/** Code, Connect code, its name on the wire, HTTP status at the REST doors. */
const table: readonly (readonly [ErrorCode, Code, string, number])[] = [
  ["invalid_argument", Code.InvalidArgument, "invalid_argument", 422],
  ["not_found", Code.NotFound, "not_found", 404],
  ["already_exists", Code.AlreadyExists, "already_exists", 409],
  ["version_conflict", Code.Aborted, "aborted", 409],
  ["failed_precondition", Code.FailedPrecondition, "failed_precondition", 412],
  ["resource_exhausted", Code.ResourceExhausted, "resource_exhausted", 429],
  ["unauthenticated", Code.Unauthenticated, "unauthenticated", 401],
  ["permission_denied", Code.PermissionDenied, "permission_denied", 403],
  ["unavailable", Code.Unavailable, "unavailable", 503],
  ["internal", Code.Internal, "internal", 500],
];

test("the table has every code once, and no other", () => {
  expect(table.map(([code]) => code)).toEqual([...errorCodes]);
  expect(Object.keys(connectCodes)).toEqual([...errorCodes]);
  expect(Object.keys(httpStatuses)).toEqual([...errorCodes]);
});

describe.each(table)("%s", (code, connectCode, name, status) => {
  const error = connectErrorFrom(new MemorydError(code, "Do this instead.", { reason: "A_REASON" }));

  test("is its own code over Connect, gRPC and gRPC-Web", () => {
    expect([error.code, codeName(error.code)]).toEqual([connectCode, name]);
    expect(connectCodes[code]).toBe(connectCode);
  });

  test("is its own status at the REST doors", () => {
    expect(httpStatuses[code]).toBe(status);
  });

  test("says what to do, and carries its reason and our name", () => {
    expect(error.rawMessage).toBe("Do this instead.");
    expect(error.findDetails(ErrorInfoSchema)).toMatchObject([
      { reason: "A_REASON", domain: "memoryd", metadata: {} },
    ]);
    expect(error.findDetails(BadRequestSchema)).toEqual([]);
  });

  test("has its name as the reason when there is no better one", () => {
    const [info] = connectErrorFrom(new MemorydError(code, "x")).findDetails(ErrorInfoSchema);
    expect(info?.reason).toBe(code.toUpperCase());
  });

  test("is the same again for a program that receives it", () => {
    const sent = new MemorydError(code, "Do this instead.", {
      reason: "A_REASON",
      metadata: { nearest: "a,b" },
      violations: [{ field: "memory.name", description: "is bad" }],
    });
    const { message, reason, metadata, violations } = sent;
    const received = memorydErrorFromConnect(connectErrorFrom(sent), { kind: "absent" });
    expect(received).toMatchObject({ code, message, reason, violations, current: { kind: "absent" } });
    expect({ ...received.metadata }).toEqual(metadata);
  });
});

describe("details", () => {
  test("name each faulty field with what is wrong, in order", () => {
    const violations: FieldViolation[] = [
      { field: "memory.type", description: "must be pointer, decision or plan" },
      { field: "memory.refs[2].target", description: "has a control character at byte 17; remove it" },
    ];
    const error = connectErrorFrom(invalidArgument(violations, "INVALID_MASK"));
    const [request] = error.findDetails(BadRequestSchema);
    expect(request?.fieldViolations.map(({ field, description }) => ({ field, description }))).toEqual(
      violations,
    );
    expect(error.findDetails(ErrorInfoSchema)[0]?.reason).toBe("INVALID_MASK");
  });

  test("hold no more than sixteen fields", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), (count) => {
        const violations = Array.from({ length: count }, (_, index) => ({
          field: `f[${index}]`,
          description: "is bad",
        }));
        const [request] = connectErrorFrom(invalidArgument(violations)).findDetails(BadRequestSchema);
        expect(request?.fieldViolations.map(({ field }) => field)).toEqual(
          violations.slice(0, 16).map(({ field }) => field),
        );
      }),
    );
  });

  test("carry metadata, and what a domain adds after our own", () => {
    const error = connectErrorFrom(
      new MemorydError("version_conflict", "It changed.", {
        metadata: { nearest: "a,b" },
        current: { secret: 1 },
      }),
      [{ desc: WriteConflictSchema, value: { absent: true } }],
    );
    expect({ ...error.findDetails(ErrorInfoSchema)[0]?.metadata }).toEqual({ nearest: "a,b" });
    expect(error.findDetails(WriteConflictSchema)).toMatchObject([{ absent: true }]);
    expect(error.details).toHaveLength(2);
  });

  test("are bytes that any reader of google.rpc understands", () => {
    const error = connectErrorFrom(invalidArgument([{ field: "name", description: "is bad" }]));
    const { details = [] } = errorToJson(error, undefined) as { details?: { type: string; value: string }[] };
    expect(details.map(({ type }) => type)).toEqual(["google.rpc.ErrorInfo", "google.rpc.BadRequest"]);
    const [info, request] = details.map(({ value }) => Buffer.from(value, "base64"));
    expect(fromBinary(ErrorInfoSchema, info as Uint8Array).domain).toBe("memoryd");
    expect(toBinary(BadRequestSchema, fromBinary(BadRequestSchema, request as Uint8Array))).toEqual(
      new Uint8Array(request as Uint8Array),
    );
  });
});

describe("what nobody may see", () => {
  const secret = "s3cr3t-words";
  const asSent = (error: ConnectError): string =>
    JSON.stringify([errorToJson(error, undefined), error.message, [...error.metadata]]);

  test("is hidden behind a fixed text when it is no error of ours", () => {
    for (const thrown of [
      new Error(secret),
      new TypeError(secret),
      secret,
      { message: secret },
      null,
      undefined,
    ]) {
      const error = connectErrorFrom(thrown);
      expect(error.code).toBe(Code.Internal);
      expect(error.rawMessage).toBe("Something went wrong inside memoryd; the daemon's log has the cause.");
      expect(error.findDetails(ErrorInfoSchema)[0]).toMatchObject({ reason: "INTERNAL", domain: "memoryd" });
      expect(asSent(error)).not.toContain(secret);
    }
  });

  test("is not sent as a cause or as what is stored, but stays there for the log", () => {
    const cause = new Error(secret);
    const ours = new MemorydError("unavailable", "Try again.", { cause, current: { body: secret } });
    const error = connectErrorFrom(ours);
    expect(asSent(error)).not.toContain(secret);
    expect(error.cause).toBe(ours);
  });

  test("an error of the wire library passes as it is", () => {
    const error = new ConnectError("too late", Code.DeadlineExceeded);
    expect(connectErrorFrom(error)).toBe(error);
  });
});
