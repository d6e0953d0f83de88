/** Reads the vectors of the text search floor; `test/vectors/text/README.md` says what their members mean. */
import { readFileSync } from "node:fs";
import type { Stream } from "../../src/text/tokens.js";

export type TokensVector = { readonly id: string; readonly text: string } & {
  readonly [stream in Stream]?: readonly string[];
};

export type AlternativeVector = {
  readonly tokens: readonly string[];
  readonly in: readonly Stream[];
  readonly prefix?: boolean;
};

export type TermVector = {
  readonly kind: string;
  readonly text: string;
  readonly prefix?: boolean;
  readonly alternatives?: readonly AlternativeVector[];
};

export type QueryVector = {
  readonly id: string;
  readonly query: string;
  readonly kind: "recent" | "no_terms" | "keyword";
  readonly terms?: readonly TermVector[];
  readonly words?: readonly string[];
  readonly cut?: boolean;
};

export type Fields = { readonly [field: string]: string | readonly string[] };
type Found = { readonly [query: string]: readonly string[] };

export type MatchingVector = {
  readonly id: string;
  readonly title: string;
  readonly texts: { readonly [name: string]: string | Fields };
  readonly any?: Found;
  readonly all?: Found;
  readonly ranked?: Found;
};

function vectorsFromFile<Vector>(name: string): readonly Vector[] {
  const url = new URL(`../vectors/text/${name}.json`, import.meta.url);
  return (JSON.parse(readFileSync(url, "utf8")) as { vectors: Vector[] }).vectors;
}

export const tokensVectors = vectorsFromFile<TokensVector>("tokens");
export const queryVectors = vectorsFromFile<QueryVector>("queries");
export const matchingVectors = vectorsFromFile<MatchingVector>("matching");
