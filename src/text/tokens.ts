/**
 * The token streams of a text (recall.md R43, R44; memory.md M62). Engines store them and never cut a text up
 * themselves, so all engines and domains find the same things. The scope stream is the adapters' own.
 *
 * | stream | holds |
 * | --- | --- |
 * | exact | parts, grams and symbols, in their order |
 * | joined | each name of several parts run together, and `c++`, `c#` |
 * | stems | the English stem of each part and of each name run together |
 */
import { stemFromToken } from "./stems.js";
import { joinedFromParts, tokensFromUnit, unitsFromText } from "./units.js";

export type Stream = "exact" | "joined" | "stems";
export type Tokens = { readonly [stream in Stream]: readonly string[] };

/**
 * Stands between two values of one field, so that no phrase reaches from one into the other. No query has it:
 * in a text it separates.
 */
export const breakToken = "+";

/** The streams of one field: of its text, or of each of its values. */
export function tokensFromText(text: string | readonly string[]): Tokens {
  const exact: string[] = [];
  const joined: string[] = [];
  const stems: string[] = [];
  const values = typeof text === "string" ? [text] : text;
  for (const [index, value] of values.entries()) {
    if (index > 0) exact.push(breakToken);
    for (const unit of unitsFromText(value)) {
      for (const token of tokensFromUnit(unit)) exact.push(token);
      if (unit.kind !== "name") continue;
      const name = joinedFromParts(unit.parts);
      for (const part of unit.parts) stems.push(stemFromToken(part));
      if (name !== undefined) {
        joined.push(name);
        stems.push(stemFromToken(name));
      }
      if (unit.sharp !== undefined) joined.push(unit.sharp);
    }
  }
  return { exact, joined, stems };
}
