/** White space and refused signs (memory.md M8, M9), against Unicode's own property and plain regexes. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { blockFault, isBlank, lineFault, trimWhitespace } from "../../src/memory/text.js";

const whitespace = /\p{White_Space}/u;
const ends = /^\p{White_Space}+|\p{White_Space}+$/gu;

/** Texts of which much is white space or looks like it. */
const spacedText = fc.string({
  unit: fc.constantFrom(
    ..." \t\n\v\f\r\u0085\u00a0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000\ufeff\u200b\u180e\u2060\u001c\u{1f600}ax",
  ),
});
const anyText = fc.string({ unit: "binary" });

function* allCodePoints(): Generator<string> {
  for (let codePoint = 0; codePoint <= 0x10ffff; codePoint += 1) {
    if (codePoint < 0xd800 || codePoint > 0xdfff) yield String.fromCodePoint(codePoint);
  }
}

describe("white space", () => {
  test("is what Unicode calls White_Space, of all code points", () => {
    for (const sign of allCodePoints()) {
      if (isBlank(sign) !== whitespace.test(sign)) expect.fail(`U+${sign.codePointAt(0)?.toString(16)}`);
    }
  });

  test("is cut from both ends and nowhere else", () => {
    const check = (text: string): void => {
      expect(trimWhitespace(text)).toBe(text.replaceAll(ends, ""));
    };
    fc.assert(fc.property(spacedText, check));
    fc.assert(fc.property(anyText, check));
  });

  test("once cut, there is nothing left to cut", () => {
    fc.assert(
      fc.property(spacedText, (text) => {
        const once = trimWhitespace(text);
        expect(trimWhitespace(once)).toBe(once);
        expect(isBlank(text)).toBe(once === "");
      }),
    );
  });
});

describe("a text", () => {
  const controls = /\p{Cc}/u;
  const refusedInBlock = (sign: string): boolean => controls.test(sign) && !/[\t\n\r]/.test(sign);
  const refusedInLine = (sign: string): boolean => controls.test(sign) || /[\u2028\u2029]/.test(sign);

  test("of several lines refuses all control characters but tab and line ends, of all code points", () => {
    for (const sign of allCodePoints()) {
      if ((blockFault(sign) !== undefined) !== refusedInBlock(sign))
        expect.fail(`U+${sign.codePointAt(0)?.toString(16)}`);
    }
  });

  test("of one line refuses line ends and separators too, of all code points", () => {
    for (const sign of allCodePoints()) {
      if ((lineFault(sign) !== undefined) !== refusedInLine(sign))
        expect.fail(`U+${sign.codePointAt(0)?.toString(16)}`);
    }
  });

  test("that is refused names the byte of its first fault and nothing of the text", () => {
    const faulty = fc.tuple(
      fc.string({ unit: "grapheme" }),
      fc.constantFrom("\0", "\x1b", "\x7f", "\x9b"),
      anyText,
    );
    fc.assert(
      fc.property(faulty, ([before, sign, after]) => {
        const byte = Buffer.byteLength(before);
        expect(blockFault(before + sign + after)).toBe(`has a control character at byte ${byte}; remove it`);
      }),
    );
  });

  test.each([
    ["line", "\u20ac\n", "has a line break at byte 3; it must be a single line"],
    ["line", "a\u2029", "has a line break at byte 1; it must be a single line"],
    ["line", "ab\t", "has a control character at byte 2; remove it"],
    ["line", "\u{1f600}\ud83d", "has a lone surrogate at byte 4; send well-formed Unicode"],
    ["block", "a\ud800", "has a lone surrogate at byte 1; send well-formed Unicode"],
    ["block", "\u0085", "has a control character at byte 0; remove it"],
    ["block", "a\r\n\tb\u2028c", undefined],
  ])("as a %s: %j", (kind, text, fault) => {
    expect(kind === "line" ? lineFault(text) : blockFault(text)).toBe(fault);
  });
});
