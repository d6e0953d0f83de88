/** The one error class and the shape of refusals (design section 3, memory.md *Refused*). */
import { expect, test } from "vitest";
import { invalidArgument, isMemorydError, MemorydError, maxViolations } from "../../src/kernel/errors.js";

test("an error has its code as the reason when nothing better is known, and no details", () => {
  const error = new MemorydError("not_found", "No such thing.");
  expect(error).toMatchObject({
    name: "MemorydError",
    code: "not_found",
    message: "No such thing.",
    reason: "NOT_FOUND",
    violations: [],
    metadata: {},
    current: undefined,
  });
  expect("cause" in error).toBe(false);
});

test("an error keeps what it was given", () => {
  const cause = new Error("disk");
  const options = { reason: "DISK_FULL", metadata: { a: "b" }, current: { revision: 1 }, cause };
  expect(new MemorydError("unavailable", "Try again.", options)).toMatchObject(options);
});

test("only our own errors are told to be ours", () => {
  expect(isMemorydError(new MemorydError("internal", "x"))).toBe(true);
  for (const other of [new Error("x"), { code: "internal" }, undefined, null, "internal"]) {
    expect(isMemorydError(other)).toBe(false);
  }
});

test("a refusal says in one sentence what is wrong with each field", () => {
  const error = invalidArgument([
    { field: "memory.name", description: "must be a slug" },
    { field: "memory.body", description: "is over 65536 bytes" },
  ]);
  expect(error.code).toBe("invalid_argument");
  expect(error.reason).toBe("INVALID_ARGUMENT");
  expect(error.message).toBe("memory.name must be a slug; memory.body is over 65536 bytes.");
});

test("a refusal tells at most sixteen fields, the first ones, in its message too", () => {
  const violations = Array.from({ length: 40 }, (_, index) => ({
    field: `f${index}`,
    description: "is bad",
  }));
  const error = invalidArgument(violations, "INVALID_MASK");
  expect(maxViolations).toBe(16);
  expect(error.reason).toBe("INVALID_MASK");
  expect(error.violations).toEqual(violations.slice(0, 16));
  expect(error.message).toContain("f15");
  expect(error.message).not.toContain("f16");
});
