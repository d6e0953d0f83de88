/** The exit codes of the commands, pinned cell by cell (design section 3). */
import { expect, test } from "vitest";
import { exitCodes, exitMeanings, success } from "../../src/cli/exit-codes.js";
import { errorCodes } from "../../src/kernel/errors.js";

const table = {
  invalid_argument: 2,
  not_found: 4,
  already_exists: 5,
  version_conflict: 6,
  failed_precondition: 6,
  resource_exhausted: 7,
  unauthenticated: 8,
  permission_denied: 8,
  unavailable: 9,
  internal: 1,
} as const;

test.each(errorCodes.map((code) => ({ code, exit: table[code] })))(
  "$code ends a command with $exit",
  (row) => {
    expect(exitCodes[row.code]).toBe(row.exit);
  },
);

test("success is 0, and every code has its line in the help", () => {
  expect(success).toBe(0);
  const used = new Set([success, ...Object.values(exitCodes)]);
  expect(Object.keys(exitMeanings).map(Number)).toEqual([...used].sort((a, b) => a - b));
});
