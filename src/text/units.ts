/**
 * What a text is made of, before anything is matched: names, gram runs and symbols in their order (recall.md R43,
 * R44). Texts become token streams from it (`tokens.ts`) and queries become terms (`term.ts`), so that both are
 * always cut up alike. Pure, and linear in the text.
 */
import { gramClass, joinerClass, symbolClass, wordClass } from "./classes.js";
import { normalized, partsFromName } from "./fold.js";

/**
 * | kind | example | holds |
 * | --- | --- | --- |
 * | name | `getUserName`, `C++` | its folded parts; `sharp` is `c++` where the name is a language's and `++` or `#` follows |
 * | gram | `日本語` | its characters |
 * | symbol | `🚀` | itself |
 */
export type Unit =
  | { readonly kind: "name"; readonly parts: readonly string[]; readonly sharp: string | undefined }
  | { readonly kind: "gram"; readonly characters: readonly string[] }
  | { readonly kind: "symbol"; readonly token: string };

const joinedMaxParts = 8;
const joinedMaxCodePoints = 64;

const fitsJoined = (token: string): boolean =>
  token.length <= joinedMaxCodePoints || [...token].length <= joinedMaxCodePoints;

/** The parts of a name run together: `sessionrecall`; `undefined` for one part, and for what is too long. */
export function joinedFromParts(parts: readonly string[]): string | undefined {
  if (parts.length < 2 || parts.length > joinedMaxParts) return undefined;
  const joined = parts.join("");
  return fitsJoined(joined) ? joined : undefined;
}

/** `c++` or `c#` for the name `C` with `rest` after it. */
export function sharpFromName(name: string, rest: string): string | undefined {
  const suffix = rest.startsWith("++") ? "++" : rest.startsWith("#") ? "#" : undefined;
  if (suffix === undefined || !/^[A-Za-z]+$/.test(name)) return undefined;
  const sharp = name.toLowerCase() + suffix;
  return fitsJoined(sharp) ? sharp : undefined;
}

const unitPattern = new RegExp(
  `(${wordClass}+(?:${joinerClass}${wordClass}+)*)|(${gramClass}+)|(${symbolClass})`,
  "gv",
);

/** The units of a text, in its order. */
export function unitsFromText(text: string): readonly Unit[] {
  const plain = normalized(text);
  const units: Unit[] = [];
  // Texts say the same words again and again.
  const partsByName = new Map<string, readonly string[]>();
  for (const match of plain.matchAll(unitPattern)) {
    const [all, name, run] = match;
    if (name !== undefined) {
      const parts = partsByName.get(name) ?? partsFromName(name);
      partsByName.set(name, parts);
      const end = match.index + all.length;
      const sharp = sharpFromName(name, plain.slice(end, end + 2));
      if (parts.length > 0) units.push({ kind: "name", parts, sharp });
    } else if (run !== undefined) {
      units.push({ kind: "gram", characters: [...run] });
    } else {
      units.push({ kind: "symbol", token: all });
    }
  }
  return units;
}

/** The bigrams of a gram run, which say which character follows which; none for a single character. */
export const bigramsFromCharacters = (characters: readonly string[]): readonly string[] =>
  characters.slice(1).map((character, index) => `${characters[index]}${character}`);

/** The tokens of one unit as they stand in the exact stream. */
export function tokensFromUnit(unit: Unit): readonly string[] {
  if (unit.kind === "name") return unit.parts;
  if (unit.kind === "symbol") return [unit.token];
  return [...bigramsFromCharacters(unit.characters), ...unit.characters.slice(-1)];
}
