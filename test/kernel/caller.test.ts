/** Rights (daemon.md D20, D26): each includes the ones before it. */
import { expect, test } from "vitest";
import { assertRight, type Right, rights } from "../../src/kernel/caller.js";
import { isMemorydError } from "../../src/kernel/errors.js";

const pairs = rights.flatMap((has) => rights.map((needed): [Right, Right] => [has, needed]));
const enough = new Set([
  "read-read",
  "write-read",
  "write-write",
  "admin-read",
  "admin-write",
  "admin-admin",
]);

test.each(pairs)("a caller with the right %s that needs %s", (right, needed) => {
  const ask = (): void => assertRight({ user: "ana", right }, needed);
  if (enough.has(`${right}-${needed}`)) return expect(ask).not.toThrow();
  try {
    ask();
  } catch (error) {
    expect(isMemorydError(error) && error.code).toBe("permission_denied");
    expect(isMemorydError(error) && error.message).toContain(needed);
    return;
  }
  expect.fail("it was let in");
});
