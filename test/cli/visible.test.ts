/** What a terminal is shown of stored text (memory.md M90): as a table, then as properties of any text. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { visibleBlock, visibleJson, visibleLine } from "../../src/cli/visible.js";

const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
const anyText = fc.string({ unit: "binary" });
/** Mostly the characters that matter. */
const nastyText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "\u001b[31m",
        "\u009b",
        "\u202e",
        "\u2066",
        "\u200b",
        "\ufeff",
        "\u{e0041}",
        "\u007f",
        "\r",
        "\ud800",
      ),
      fc.constantFrom("\n", "\t", "\r\n", "\u2028", "\\", '"', "❤\ufe0f", "\ufe0f", "\u00ad", "é", "漢"),
      fc.string({ maxLength: 3 }),
    ),
  )
  .map((parts) => parts.join(""));
const texts = fc.oneof(anyText, nastyText);

const unescaped = (text: string): string =>
  text.replace(/\\u\{([0-9a-f]+)\}/g, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)));

describe("a line", () => {
  test.each([
    ["plain text, accents and CJK", "key-1: café 漢字 🦊", "key-1: café 漢字 🦊"],
    ["an escape sequence", "\u001b[2J", "\\u{1b}[2J"],
    ["a C1 control sequence", "\u009b31m", "\\u{9b}31m"],
    ["a bidi override", "a\u202eb", "a\\u{202e}b"],
    ["a zero-width space and a byte order mark", "a\u200bb\ufeff", "a\\u{200b}b\\u{feff}"],
    ["tag characters", "\u{e0068}\u{e0069}", "\\u{e0068}\\u{e0069}"],
    ["line breaks of all sorts", "a\nb\rc\u2028d", "a\\u{a}b\\u{d}c\\u{2028}d"],
    ["a lone surrogate", "a\ud83db", "a\\u{d83d}b"],
    ["the style of a pictograph, which stays", "❤\ufe0f 🌶\ufe0f", "❤\ufe0f 🌶\ufe0f"],
    ["a style of nothing", "a\ufe0f ❤\ufe0f\ufe0f", "a\\u{fe0f} ❤\ufe0f\\u{fe0f}"],
    ["a filler that looks like a space", "a\u3164b", "a\\u{3164}b"],
  ])("%s", (_what, text, shown) => {
    expect(visibleLine(text)).toBe(shown);
  });

  test("shows nothing hidden of any text, and keeps all that can be seen", () => {
    fc.assert(
      fc.property(texts, (text) => {
        const shown = visibleLine(text);
        expect(shown.replace(/(?<=\p{Extended_Pictographic})[\ufe0e\ufe0f]/gu, "")).not.toMatch(hidden);
        if (!text.includes("\\")) expect(unescaped(shown)).toBe(text);
        expect(visibleLine(shown)).toBe(shown);
      }),
    );
  });
});

describe("a block", () => {
  test("keeps its lines and tabs, and shows a carriage return that would overwrite one", () => {
    expect(visibleBlock("a\r\n\tb\nc\rd\u001b")).toBe("a\r\n\tb\nc\\u{d}d\\u{1b}");
  });

  test("is the line but for line breaks and tabs", () => {
    fc.assert(
      fc.property(texts, (text) => {
        const inBlock = visibleBlock(text).replace(/\r\n|\n|\t/g, (kept) => visibleLine(kept));
        expect(inBlock).toBe(visibleLine(text));
      }),
    );
  });
});

describe("JSON", () => {
  test("says the same to a parser and hides nothing from a terminal", () => {
    fc.assert(
      fc.property(texts, (text) => {
        const shown = visibleJson(JSON.stringify({ text }));
        expect(JSON.parse(shown)).toEqual({ text });
        expect(shown).not.toMatch(hidden);
      }),
    );
  });
});
