/** Which Host and Origin headers are let in (daemon.md D18, D19), as tables. */
import { describe, expect, test } from "vitest";
import { isMemorydError } from "../../src/kernel/errors.js";
import {
  assertHost,
  authorityFrom,
  corsHeaders,
  originOf,
  preflightHeaders,
} from "../../src/server/guard.js";

function outcome(run: () => unknown): string {
  try {
    run();
    return "pass";
  } catch (error) {
    return isMemorydError(error) ? error.reason : String(error);
  }
}

describe("Host", () => {
  test.each([
    ["127.0.0.1", "pass"],
    ["127.0.0.1:7411", "pass"],
    ["127.255.0.9:80", "pass"],
    ["localhost:7411", "pass"],
    ["LocalHost:7411", "pass"],
    ["localhost.", "pass"],
    ["[::1]:7411", "pass"],
    ["[::1]", "pass"],
    ["[::ffff:127.0.0.1]:7411", "pass"],
    ["[::ffff:7f00:1]", "pass"],
    ["notes.example", "pass"],
    ["NOTES.example:8443", "pass"],
    ["evil.example", "HOST_FOREIGN"],
    ["localhost.evil.example", "HOST_FOREIGN"],
    ["evil-localhost", "HOST_FOREIGN"],
    ["127.0.0.1.evil.example", "HOST_FOREIGN"],
    ["0.0.0.0:7411", "HOST_FOREIGN"],
    ["[::]:7411", "HOST_FOREIGN"],
    ["192.168.1.5:7411", "HOST_FOREIGN"],
    ["[::ffff:192.168.1.5]", "HOST_FOREIGN"],
    ["169.254.169.254", "HOST_FOREIGN"],
    ["sub.notes.example", "HOST_FOREIGN"],
    [undefined, "HOST_MALFORMED"],
    ["", "HOST_MALFORMED"],
    ["[", "HOST_MALFORMED"],
    ["[::1", "HOST_MALFORMED"],
    ["::1", "HOST_MALFORMED"],
    ["localhost:", "HOST_MALFORMED"],
    ["localhost:port", "HOST_MALFORMED"],
    ["localhost:123456", "HOST_MALFORMED"],
    ["localhost:70000", "HOST_MALFORMED"],
    ["localhost/path", "HOST_MALFORMED"],
    ["user@localhost", "HOST_MALFORMED"],
    ["localhost localhost", "HOST_MALFORMED"],
    ["localhost,evil.example", "HOST_MALFORMED"],
    ["%2Ftmp%2Fx.sock", "HOST_MALFORMED"],
    ["ｌocalhost", "HOST_MALFORMED"],
  ])("%s: %s", (host, expected) => {
    expect(outcome(() => assertHost(host, ["notes.example"]))).toBe(expected);
  });
});

describe("Origin", () => {
  const own = authorityFrom("127.0.0.1:7411")!;
  const allowOrigin = ["https://tools.example"];
  test.each([
    [undefined, "http", undefined],
    ["http://127.0.0.1:7411", "http", "http://127.0.0.1:7411"],
    ["https://127.0.0.1:7411", "https", "https://127.0.0.1:7411"],
    ["https://tools.example", "http", "https://tools.example"],
    ["null", "http", "ORIGIN_FOREIGN"],
    ["", "http", "ORIGIN_FOREIGN"],
    ["not an origin", "http", "ORIGIN_FOREIGN"],
    ["http://127.0.0.1:7411/", "http", "ORIGIN_FOREIGN"],
    ["http://user@127.0.0.1:7411", "http", "ORIGIN_FOREIGN"],
    ["http://127.0.0.1", "http", "ORIGIN_FOREIGN"],
    ["http://127.0.0.1:7412", "http", "ORIGIN_FOREIGN"],
    ["http://127.0.0.2:7411", "http", "ORIGIN_FOREIGN"],
    ["http://localhost:7411", "http", "ORIGIN_FOREIGN"],
    ["https://127.0.0.1:7411", "http", "ORIGIN_FOREIGN"],
    ["http://127.0.0.1:7411", "https", "ORIGIN_FOREIGN"],
    ["http://tools.example", "http", "ORIGIN_FOREIGN"],
    ["https://tools.example:8443", "http", "ORIGIN_FOREIGN"],
    ["https://tools.example.evil.example", "http", "ORIGIN_FOREIGN"],
    ["https://tools.example, https://evil.example", "http", "ORIGIN_FOREIGN"],
    ["https://evil.example", "http", "ORIGIN_FOREIGN"],
    ["file://", "http", "ORIGIN_FOREIGN"],
    ["chrome-extension://abc", "http", "ORIGIN_FOREIGN"],
  ] as const)("%s on %s: %s", (origin, scheme, expected) => {
    let answer: string | undefined;
    const reason = outcome(() => {
      answer = originOf(origin, own, { allowOrigin, schemes: [scheme] });
    });
    expect(reason === "pass" ? answer : reason).toBe(expected);
  });

  test("a page behind a proxy may be open under either scheme", () => {
    const schemes = ["http", "https"] as const;
    const name = authorityFrom("notes.example")!;
    expect(originOf("https://notes.example", name, { allowOrigin, schemes })).toBe("https://notes.example");
    expect(originOf("http://notes.example", name, { allowOrigin, schemes })).toBe("http://notes.example");
  });
});

test("CORS answers name the exact origin, our own headers and those of the domains (D19)", () => {
  const rules = { allowedHeaders: ["memoryd-if-match"], exposedHeaders: ["memoryd-etag"] };
  const answer = corsHeaders("https://tools.example", rules);
  expect(answer["access-control-allow-origin"]).toBe("https://tools.example");
  expect(answer["access-control-expose-headers"]?.toLowerCase().split(", ")).toEqual(
    expect.arrayContaining(["memoryd-etag", "x-request-id", "grpc-status", "grpc-message"]),
  );
  expect(answer).not.toHaveProperty("access-control-allow-credentials");
  const preflight = preflightHeaders(rules, false);
  expect(preflight["access-control-allow-headers"]?.toLowerCase().split(", ")).toEqual(
    expect.arrayContaining(["memoryd-if-match", "authorization", "content-type", "connect-timeout-ms"]),
  );
  expect(preflight).not.toHaveProperty("access-control-allow-private-network");
  expect(preflightHeaders(rules, true)).toHaveProperty("access-control-allow-private-network", "true");
});
