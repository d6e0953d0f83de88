/** Positions of a watch: which texts are any, and from which one a watch can go on. */
import { describe, expect, test } from "vitest";
import { isMemorydError } from "../../src/kernel/errors.js";
import { textFromPosition } from "../../src/memory/position.js";
import { currentPosition, positionFromText, resumedPosition } from "../../src/memory/watch-position.js";

const epoch = "0123456789abcdef0123456789abcdef";
const standing = { epoch, position: 9, trimmedPosition: 4 };
const at = (position: number) => ({ epoch, position });

describe("a position as text", () => {
  test("is read as it was written", () => {
    for (const position of [at(0), at(7), at(Number.MAX_SAFE_INTEGER), { epoch: "", position: 0 }]) {
      expect(positionFromText(textFromPosition(position))).toEqual(position);
    }
  });

  test("that is empty is none", () => expect(positionFromText("")).toBeUndefined());

  test.each([
    "zzz",
    "0",
    ".",
    ".1",
    `${epoch}`,
    `${epoch}.`,
    `${epoch}.-1`,
    `${epoch}.01`,
    `${epoch}.1.1`,
    `${epoch}.9007199254740992`,
    `${epoch}. 1`,
    ` ${epoch}.1`,
    `${epoch}.1\n`,
    `${epoch.toUpperCase()}.1`,
    `${"a".repeat(65)}.1`,
    "\u0000".repeat(100_000),
  ])("that is %j is refused, by its field and without its text", (text) => {
    try {
      expect.fail(`it was read as ${JSON.stringify(positionFromText(text))}`);
    } catch (error) {
      if (!isMemorydError(error)) throw error;
      expect([error.code, error.violations.map(({ field }) => field)]).toEqual([
        "invalid_argument",
        ["position"],
      ]);
      expect(error.message).not.toContain(epoch);
    }
  });
});

describe("a watch", () => {
  test("without a position begins where the workspace stands, also when it does not exist", () => {
    expect(currentPosition(standing)).toEqual(at(9));
    expect(currentPosition(undefined)).toEqual({ epoch: "", position: 0 });
  });

  test("goes on from the newest trimmed deletion to where the workspace stands", () => {
    for (const position of [4, 5, 9]) expect(resumedPosition(at(position), standing)).toEqual(at(position));
  });

  test("cannot go on before a trimmed deletion, above the workspace, or from another epoch", () => {
    const other = { epoch: "f".repeat(32), position: 5 };
    for (const from of [at(3), at(0), at(10), other]) expect(resumedPosition(from, standing)).toBeUndefined();
    expect(resumedPosition(at(5), undefined)).toBeUndefined();
  });

  test("of a workspace that did not exist goes on from its birth, unless a deletion was trimmed since", () => {
    const unborn = { epoch: "", position: 0 };
    expect(resumedPosition(unborn, undefined)).toEqual(unborn);
    expect(resumedPosition(unborn, { ...standing, trimmedPosition: 0 })).toEqual(at(0));
    expect(resumedPosition(unborn, standing)).toBeUndefined();
  });
});
