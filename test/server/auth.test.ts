/** Who a bearer token stands for, and how bad ones are slowed down (daemon.md D20, D21, D23). */
import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createAuthenticator } from "../../src/server/auth.js";
import { token } from "./support.js";

const operator = { user: "ada", right: "admin" } as const;

function authenticator(operatorToken: string | undefined = token) {
  let now = 0;
  const made = createAuthenticator({ operator, operatorToken, nowMs: () => now });
  return {
    ...made,
    wait: (ms: number) => {
      now += ms;
    },
    /** `ada`, or the delay in milliseconds before the refusal. */
    ask: (authorization: string | undefined, { isTrusted = false, address = "10.0.0.1" } = {}) => {
      const answer = made.authenticate({ authorization, isTrusted, address });
      return answer.caller?.user ?? ("delayMs" in answer ? answer.delayMs : undefined);
    },
  };
}

describe("tokens", () => {
  test.each([
    [`Bearer ${token}`, "ada"],
    [`bearer ${token}`, "ada"],
    [`Bearer   ${token}  `, "ada"],
    [undefined, 0],
    ["", 0],
    ["Bearer", 0],
    ["Bearer ", 0],
    [token, 0],
    [`Basic ${token}`, 0],
    [`Bearer ${token}x`, 0],
    [`Bearer ${token.slice(0, -1)}`, 0],
    [`Bearer ${token.toUpperCase()}`, 0],
    [`Bearer ${token} ${token}`, 0],
    [`Bearer,Bearer ${token}`, 0],
  ])("%s", (authorization, expected) => {
    expect(authenticator().ask(authorization)).toBe(expected);
  });

  test("a door that is trusted needs none, but one that is sent counts", () => {
    const { ask } = authenticator();
    expect(ask(undefined, { isTrusted: true })).toBe("ada");
    expect(ask(`Bearer ${token}`, { isTrusted: true })).toBe("ada");
    expect(ask("Bearer wrong", { isTrusted: true })).toBe(0);
    expect(ask("", { isTrusted: true })).toBe(0);
  });

  test("without an operator token everybody is the operator", () => {
    const made = createAuthenticator({ operator, operatorToken: undefined });
    const sent = { isTrusted: false, address: "::1" };
    expect(made.authenticate({ ...sent, authorization: undefined }).caller).toBe(operator);
    expect(made.authenticate({ ...sent, authorization: "Bearer anything" }).caller).toBe(operator);
    expect(made.proofOf("challenge")).toBeUndefined();
  });
});

describe("repeated bad tokens", () => {
  const delays = (made: ReturnType<typeof authenticator>, count: number, address?: string) =>
    Array.from({ length: count }, () => made.ask("Bearer wrong", address === undefined ? {} : { address }));

  test("the first five are answered at once, then each waits longer, up to three seconds", () => {
    expect(delays(authenticator(), 12)).toEqual([0, 0, 0, 0, 0, 100, 200, 400, 800, 1600, 3000, 3000]);
  });

  test("a good token is never slowed, nor is a missing one, nor another address", () => {
    const made = authenticator();
    delays(made, 20);
    expect(made.ask(`Bearer ${token}`)).toBe("ada");
    expect(made.ask(undefined)).toBe(0);
    expect(made.ask("Bearer wrong", { address: "10.0.0.2" })).toBe(0);
  });

  test("a minute of quiet is forgiven", () => {
    const made = authenticator();
    delays(made, 20);
    made.wait(59_999);
    expect(made.ask("Bearer wrong")).toBe(3000);
    made.wait(60_000);
    expect(made.ask("Bearer wrong")).toBe(0);
  });

  test("only the thousand addresses seen last are remembered", () => {
    const made = authenticator();
    delays(made, 10, "first");
    for (let address = 0; address < 999; address += 1) made.ask("Bearer wrong", { address: String(address) });
    expect(made.ask("Bearer wrong", { address: "first" })).toBeGreaterThan(0);
    for (let address = 0; address < 1_000; address += 1)
      made.ask("Bearer wrong", { address: String(address) });
    expect(made.ask("Bearer wrong", { address: "first" })).toBe(0);
  });
});

test("the proof is the HMAC of the challenge under the token, and only for what is a challenge (D4)", () => {
  const { proofOf } = authenticator();
  expect(proofOf("abc")).toBe(createHmac("sha256", token).update("memoryd-proof:abc").digest("hex"));
  expect(proofOf("")).toBeUndefined();
  expect(proofOf("x".repeat(10_000))).toBeUndefined();
});
