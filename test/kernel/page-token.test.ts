/** Page tokens (memory.md M32): their round trip, and that nothing else is taken for one. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isMemorydError } from "../../src/kernel/errors.js";
import { keyFromPageToken, pageParametersHash, pageTokenFromKey } from "../../src/kernel/page-token.js";

const key = fc.string({ unit: "binary", maxLength: 200 });
const parameters = fc.array(fc.string({ unit: "binary" }), { maxLength: 4 });
const hash = pageParametersHash(["Method", "workspace"]);

/** The key of a token, or the reason why it is refused. */
function read(token: string, parametersHash: string): { key: string | undefined } | { reason: string } {
  try {
    return { key: keyFromPageToken(token, parametersHash) };
  } catch (error) {
    if (!isMemorydError(error)) throw error;
    expect(error.code).toBe("invalid_argument");
    expect(error.violations.map(({ field }) => field)).toEqual(["page_token"]);
    return { reason: error.reason };
  }
}

const refused = { reason: "INVALID_PAGE_TOKEN" };

describe("a page token", () => {
  test("gives back the key that it was made from, for the same parameters", () => {
    fc.assert(
      fc.property(key, parameters, (name, asked) => {
        const same = pageParametersHash(asked);
        expect(read(pageTokenFromKey(name, same), same)).toEqual({ key: name });
      }),
    );
  });

  test("is refused with any other parameters", () => {
    fc.assert(
      fc.property(key, parameters, parameters, (name, asked, others) => {
        fc.pre(JSON.stringify(asked) !== JSON.stringify(others));
        const token = pageTokenFromKey(name, pageParametersHash(asked));
        expect(read(token, pageParametersHash(others))).toEqual(refused);
      }),
    );
  });

  test("that is empty asks for the first page", () => {
    expect(read("", hash)).toEqual({ key: undefined });
  });

  test("is refused unless it is letter for letter one that was made", () => {
    const check = (text: string): void => {
      const outcome = read(text, hash);
      if ("reason" in outcome) expect(outcome).toEqual(refused);
      else expect(text).toBe(outcome.key === undefined ? "" : pageTokenFromKey(outcome.key, hash));
    };
    const token = key.map((name) => pageTokenFromKey(name, hash));
    const damaged = fc
      .tuple(token, fc.nat(), fc.string({ maxLength: 2 }), fc.nat({ max: 2 }))
      .map(([text, place, put, cut]) => {
        const at = place % (text.length + 1);
        return text.slice(0, at) + put + text.slice(at + cut);
      });
    fc.assert(fc.property(damaged, check), { numRuns: 500 });
    fc.assert(fc.property(fc.string({ unit: "binary" }), check));
    fc.assert(fc.property(fc.base64String(), check));
  });

  test.each(["zzz", "=", " ", "\ud800", "MQ", "MQ==", "null", "undefined"])("is not %j", (text) => {
    expect(read(text, hash)).toEqual(refused);
  });

  test("with spaces, padding or signs of the other base64 alphabet is refused", () => {
    const token = pageTokenFromKey("???>>>~~~", hash);
    expect(token).toMatch(/[_-]/);
    const otherAlphabet = token.replaceAll("_", "/").replaceAll("-", "+");
    for (const text of [` ${token}`, `${token} `, `${token}=`, `${token}\n`, otherAlphabet]) {
      expect(read(text, hash)).toEqual(refused);
    }
  });

  test("whose bytes are no UTF-8 is refused", () => {
    const bytes = Buffer.concat([Buffer.from(`1${hash}`), Buffer.from([0xff])]);
    expect(read(bytes.toString("base64url"), hash)).toEqual(refused);
  });

  test("over 1,024 bytes is refused, and one of the longest name is far below", () => {
    expect(read(pageTokenFromKey("x".repeat(800), hash), hash)).toEqual(refused);
    expect(pageTokenFromKey("x".repeat(128), hash).length).toBeLessThan(1_024);
  });
});

test("the hash of parameters tells their order and where each of them ends", () => {
  const lists = [["ab"], ["a", "b"], ["b", "a"], ["", "ab"], ["ab", ""], [], [""], ["1:a", "b"]];
  expect(new Set(lists.map(pageParametersHash)).size).toBe(lists.length);
  expect(pageParametersHash(["a", "b"])).toBe(pageParametersHash(["a", "b"]));
});
