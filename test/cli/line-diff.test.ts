/** Unified diffs: a patch of them gives the other text, no shorter script exists, and hunks say where they stand. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type DiffLine, diffOfLines, hunksOf } from "../../src/cli/memory/line-diff.js";

const sideOf = (lines: readonly DiffLine[], other: "-" | "+"): string[] =>
  lines.filter(({ sign }) => sign !== other).map(({ text }) => text);

const textOf = (lines: readonly DiffLine[]): string[] => lines.map(({ sign, text }) => `${sign}${text}`);

/** The length of the longest common subsequence, by the table that everybody knows. */
function commonLength(from: readonly string[], to: readonly string[]): number {
  let row = to.map(() => 0);
  for (const line of from) {
    let [diagonal, left] = [0, 0];
    row = row.map((above, index) => {
      left = to[index] === line ? diagonal + 1 : Math.max(above, left);
      diagonal = above;
      return left;
    });
  }
  return row.at(-1) ?? 0;
}

const lineLists = fc.array(fc.constantFrom("a", "b", "c", ""), { maxLength: 14 });

test("both texts are in it whole, whatever they are, with as few changed lines as can be", () => {
  fc.assert(
    fc.property(lineLists, lineLists, (from, to) => {
      const lines = diffOfLines(from, to);
      expect(sideOf(lines, "+")).toEqual(from);
      expect(sideOf(lines, "-")).toEqual(to);
      expect(lines.filter(({ sign }) => sign === " ")).toHaveLength(commonLength(from, to));
    }),
    { numRuns: 400 },
  );
});

test("texts without anything in common are one replaced by the other, soon, also when they are long", () => {
  const from = Array.from({ length: 30_000 }, (_, index) => `old ${index}`);
  const to = Array.from({ length: 30_000 }, (_, index) => `new ${index}`);
  const lines = diffOfLines(from, to);
  expect(lines).toHaveLength(60_000);
  expect([lines[0], lines.at(-1)]).toEqual([
    { sign: "-", text: "old 0" },
    { sign: "+", text: "new 29999" },
  ]);
});

describe("hunks", () => {
  const numbered = (count: number): string[] => Array.from({ length: count }, (_, index) => `${index + 1}`);
  const hunks = (from: readonly string[], to: readonly string[]) =>
    hunksOf(diffOfLines(from, to)).map(({ lines, ...place }) => ({
      place: Object.values(place),
      lines: textOf(lines),
    }));

  test("there are none where nothing changed", () => {
    expect(hunks(numbered(9), numbered(9))).toEqual([]);
    expect(hunks([], [])).toEqual([]);
  });

  test("have three lines around a change, and are joined where these meet", () => {
    const from = numbered(30);
    const to = from.map((line) => (line === "5" || line === "11" || line === "25" ? `${line}!` : line));
    expect(hunks(from, to)).toEqual([
      {
        place: [2, 13, 2, 13],
        lines: [
          " 2",
          " 3",
          " 4",
          "-5",
          "+5!",
          " 6",
          " 7",
          " 8",
          " 9",
          " 10",
          "-11",
          "+11!",
          " 12",
          " 13",
          " 14",
        ],
      },
      { place: [22, 7, 22, 7], lines: [" 22", " 23", " 24", "-25", "+25!", " 26", " 27", " 28"] },
    ]);
  });

  test("of a text that came or went whole begin at line 0 on the empty side", () => {
    expect(hunks([], ["a", "b"])).toEqual([{ place: [0, 0, 1, 2], lines: ["+a", "+b"] }]);
    expect(hunks(["a"], [])).toEqual([{ place: [1, 1, 0, 0], lines: ["-a"] }]);
  });
});
