/** What is taken from the real process: its variables, its user, the package's version. */
import { readFileSync } from "node:fs";
import { afterEach, describe, expect, test, vi } from "vitest";
import { childVariables, readEnvironment } from "../../src/config/env.js";
import { createChallenge, isChallenge, isProof, proofFrom } from "../../src/config/proof.js";
import { memorydVersion } from "../../src/config/version.js";
import { root } from "../support/compile.js";

afterEach(() => vi.unstubAllEnvs());

describe("the environment", () => {
  test("keeps our variables and those of the homes, and nothing else", () => {
    vi.stubEnv("MEMORYD_LOG_LEVEL", "debug");
    vi.stubEnv("XDG_STATE_HOME", "/s");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "not ours");
    const { variables } = readEnvironment();
    expect(variables).toMatchObject({ MEMORYD_LOG_LEVEL: "debug", XDG_STATE_HOME: "/s" });
    expect(Object.keys(variables).filter((name) => !/^(MEMORYD_|XDG_|(LOCAL)?APPDATA$)/.test(name))).toEqual(
      [],
    );
  });

  test("counts an empty variable as not set", () => {
    vi.stubEnv("MEMORYD_LOG_LEVEL", "");
    expect(readEnvironment().variables).not.toHaveProperty("MEMORYD_LOG_LEVEL");
  });

  test.each([
    [{}, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: "http://localhost:4318" }, true],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://localhost:4318" }, true],
    [{ OTEL_TRACES_EXPORTER: "otlp" }, true],
    [{ OTEL_TRACES_EXPORTER: "none", OTEL_EXPORTER_OTLP_ENDPOINT: "http://localhost:4318" }, false],
    [{ OTEL_SDK_DISABLED: "true", OTEL_TRACES_EXPORTER: "otlp" }, false],
  ])("asks for traces as the standard variables do: %j", (variables, wantsTraces) => {
    for (const name of Object.keys(process.env)) if (name.startsWith("OTEL_")) vi.stubEnv(name, undefined);
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
    expect(readEnvironment().wantsTraces).toBe(wantsTraces);
  });

  test("of a process that stays behind has no NODE_OPTIONS, and what we changed", () => {
    vi.stubEnv("NODE_OPTIONS", "--no-warnings");
    vi.stubEnv("MEMORYD_TOKEN", "0123456789abcdef");
    const variables = childVariables({ MEMORYD_TOKEN: undefined, MEMORYD_LOG_LEVEL: "warn" });
    expect(variables.NODE_OPTIONS).toBeUndefined();
    expect(variables.MEMORYD_TOKEN).toBeUndefined();
    expect(variables).toMatchObject({ MEMORYD_LOG_LEVEL: "warn", PATH: process.env.PATH });
  });
});

test("the version is the package's own", () => {
  expect(memorydVersion).toBe(JSON.parse(readFileSync(`${root}/package.json`, "utf8")).version);
});

describe("the proof of a daemon", () => {
  test("is the hex HMAC-SHA-256 of the challenge under the token", () => {
    // Made with: printf 'memoryd-proof:abc' | openssl dgst -sha256 -hmac secret
    expect(proofFrom("secret", "abc")).toBe(
      "a52b4064ca73a93384d22bade72b9ba85e18afc7f30ada7807653ba76b8c4add",
    );
  });

  test("holds for its token and its challenge only", () => {
    const challenge = createChallenge();
    const proof = proofFrom("token", challenge);
    expect(isProof(proof, "token", challenge)).toBe(true);
    expect(isProof(proof, "other", challenge)).toBe(false);
    expect(isProof(proof, "token", createChallenge())).toBe(false);
    expect(isProof(undefined, "token", challenge)).toBe(false);
    expect(isProof(`${proof}0`, "token", challenge)).toBe(false);
  });

  test.each(["", "a b", "a\n", "é", "x".repeat(129)])("answers no challenge such as %j", (text) => {
    expect(isChallenge(text)).toBe(false);
  });
});
