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

type Derived = { readonly joined: string | undefined; readonly stems: readonly string[] };

function derivedFromParts(parts: readonly string[]): Derived {
  const joined = joinedFromParts(parts);
  const stems = parts.map(stemFromToken);
  return { joined, stems: joined === undefined ? stems : [...stems, stemFromToken(joined)] };
}

/** The streams of one field: of its text, or of each of its values. */
export function tokensFromText(text: string | readonly string[]): Tokens {
  const exact: string[] = [];
  const joined: string[] = [];
  const stems: string[] = [];
  for (const [index, value] of (typeof text === "string" ? [text] : text).entries()) {
    if (index > 0) exact.push(breakToken);
    // Units of one text share the parts of a name that is there twice, and most are.
    const byParts = new Map<readonly string[], Derived>();
    for (const unit of unitsFromText(value)) {
      for (const token of tokensFromUnit(unit)) exact.push(token);
      if (unit.kind !== "name") continue;
      const derived = byParts.get(unit.parts) ?? derivedFromParts(unit.parts);
      byParts.set(unit.parts, derived);
      for (const stem of derived.stems) stems.push(stem);
      if (derived.joined !== undefined) joined.push(derived.joined);
      if (unit.sharp !== undefined) joined.push(unit.sharp);
    }
  }
  return { exact, joined, stems };
}
