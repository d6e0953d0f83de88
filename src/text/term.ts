/**
 * One term of a query as data (recall.md R45): what it looks like decides what an entry must have. No engine's
 * syntax is in it; `fts5.ts` writes it for one engine and `match.ts` reads it as it stands.
 *
 * | kind | looks like | an alternative for each of |
 * | --- | --- | --- |
 * | word | `port`, `🚀` | the token or joined name, its stem |
 * | name | `session-recall`, `CLAUDE.md`, `写Rust` | its tokens side by side; for a single name its joined form and that one's stem |
 * | path | `src/recall/service.ts` | what its last segment has; the last two, last three and all segments side by side, which only add to the score |
 * | gram | `日本語` | its characters side by side |
 * | prefix | `wild*`, `session-rec*` | as word or name, the last token or the joined form being a beginning; no stems |
 * | sharp | `c++`, `c#` | that token in the joined stream |
 * | phrase | `"exact words"` | its tokens side by side |
 */
import { stemFromToken } from "./stems.js";
import type { Stream } from "./tokens.js";
import {
  bigramsFromCharacters,
  joinedFromParts,
  sharpFromName,
  tokensFromUnit,
  type Unit,
  unitsFromText,
} from "./units.js";

export type TermKind = "word" | "name" | "path" | "gram" | "prefix" | "sharp" | "phrase";

/** Tokens that stand side by side, in this order, in one field of one of the streams. */
export type Alternative = {
  readonly tokens: readonly string[];
  /** The last token is only the beginning of what must stand there. */
  readonly isPrefix: boolean;
  readonly streams: readonly Stream[];
};

/** A field matches when one of the alternatives, of which there is at least one, does. */
export type Term = {
  readonly kind: TermKind;
  /** As it was typed, in NFKC, without what stands around it: quotes, the star, other punctuation. */
  readonly text: string;
  /** Asked for with a star. */
  readonly isPrefix: boolean;
  /** It had more than `maxTermTokens` tokens, and those beyond are not looked for. */
  readonly isCut: boolean;
  readonly alternatives: readonly Alternative[];
};

/**
 * Most tokens of a term that are looked for. An engine holds a place in the index open for each of them, and a
 * query of megabytes of such places would be one caller's weight on all others.
 */
export const maxTermTokens = 64;

type Run = { readonly tokens: readonly string[]; readonly isPrefix: boolean; readonly isCut: boolean };

/**
 * Tokens of a term from the units of a text. The text that is searched may go on where a gram run of the term
 * ends, so the run's last character does not stand for itself there as it does in a text.
 */
function runFromUnits(units: readonly Unit[]): Run {
  const tokens: string[] = [];
  let isPrefix = false;
  for (const [index, unit] of units.entries()) {
    const isOpen = unit.kind === "gram" && index === units.length - 1;
    isPrefix = isOpen && unit.characters.length === 1;
    const own = isOpen && !isPrefix ? bigramsFromCharacters(unit.characters) : tokensFromUnit(unit);
    for (const token of own) tokens.push(token);
    if (tokens.length > maxTermTokens) {
      return { tokens: tokens.slice(0, maxTermTokens), isPrefix: false, isCut: true };
    }
  }
  return { tokens, isPrefix, isCut: false };
}

const alternativeFromRun = ({ tokens, isPrefix }: Run): Alternative => ({
  tokens,
  isPrefix,
  streams: ["exact"],
});

function alternativesFromName(parts: readonly string[], run: Run): readonly Alternative[] {
  const joined = parts.length === 1 ? parts[0] : joinedFromParts(parts);
  const alternatives: Alternative[] = parts.length > 1 ? [alternativeFromRun(run)] : [];
  if (joined === undefined) return alternatives;
  alternatives.push({ tokens: [joined], isPrefix: run.isPrefix, streams: ["exact", "joined"] });
  if (run.isPrefix) return alternatives;
  alternatives.push({ tokens: [stemFromToken(joined)], isPrefix: false, streams: ["stems"] });
  return alternatives;
}

/** What may stand around a term without being of it: a chunk holds no other characters that separate. */
const outer = "_-\u2010/\\.:@#+*";

/** Where in a chunk the first character of a name, gram run or symbol is, and where the last one ends. */
function coreOf(chunk: string): { readonly start: number; readonly end: number } {
  let start = 0;
  let end = chunk.length;
  while (start < end && outer.includes(chunk.charAt(start))) start += 1;
  while (end > start && outer.includes(chunk.charAt(end - 1))) end -= 1;
  return { start, end };
}

function termFromSegment(segment: string): Term {
  const { start, end } = coreOf(segment);
  const text = segment.slice(start, end);
  const sharp = sharpFromName(text, segment.slice(end));
  if (sharp !== undefined) {
    const alternatives: Alternative[] = [{ tokens: [sharp], isPrefix: false, streams: ["joined"] }];
    const withSuffix = segment.slice(start, start + sharp.length);
    return { kind: "sharp", text: withSuffix, isPrefix: false, isCut: false, alternatives };
  }
  const units = unitsFromText(text);
  const isPrefix = segment.charAt(end) === "*";
  const run = runFromUnits(units);
  const asked = { ...run, isPrefix: !run.isCut && (isPrefix || run.isPrefix) };
  const [unit] = units;
  const only = units.length === 1 ? unit : undefined;
  const isWord = only?.kind === "symbol" || (only?.kind === "name" && only.parts.length === 1);
  return {
    kind: isPrefix ? "prefix" : isWord ? "word" : only?.kind === "gram" ? "gram" : "name",
    text,
    isPrefix,
    isCut: run.isCut,
    alternatives:
      only?.kind === "name" ? alternativesFromName(only.parts, asked) : [alternativeFromRun(asked)],
  };
}

/** The term of a chunk that is a path, from those of its segments that hold names; there are two or more. */
function termFromPath(chunk: string, segments: readonly string[]): Term {
  const last = termFromSegment(segments.at(-1) ?? "");
  const end = chunk.lastIndexOf(last.text) + last.text.length;
  const counts = new Set([2, 3, segments.length]);
  // `foo/c++` is not met by the tokens foo and c side by side, so a longer run would find too much.
  const most = last.kind === "sharp" ? 0 : Math.min(segments.length, maxTermTokens);
  const runs = [...counts]
    .filter((count) => count <= most)
    .map((count) => runFromUnits(segments.slice(-count).flatMap(unitsFromText)));
  return {
    ...last,
    kind: "path",
    text: chunk.slice(coreOf(chunk).start, end),
    alternatives: [
      ...last.alternatives,
      // A run that was cut need not reach the last segment, so it too would find too much.
      ...runs
        .filter(({ isCut }) => !isCut)
        .map((run) => alternativeFromRun({ ...run, isPrefix: run.isPrefix || last.isPrefix })),
    ],
  };
}

/** The term of a chunk of a normalized query; `undefined` when it holds no token. */
export function termFromChunk(chunk: string): Term | undefined {
  const segments = chunk.split(/[/\\]/).filter((segment) => unitsFromText(segment).length > 0);
  if (segments.length === 0) return undefined;
  if (segments.length === 1) return termFromSegment(segments[0] ?? "");
  return termFromPath(chunk, segments);
}

/** The term of what stood between two quotes of a normalized query; `undefined` when it holds no token. */
export function termFromPhrase(quoted: string): Term | undefined {
  const run = runFromUnits(unitsFromText(quoted));
  if (run.tokens.length === 0) return undefined;
  const text = quoted
    .split(/\p{White_Space}+/u)
    .filter((word) => word !== "")
    .join(" ");
  return { kind: "phrase", text, isPrefix: false, isCut: run.isCut, alternatives: [alternativeFromRun(run)] };
}
