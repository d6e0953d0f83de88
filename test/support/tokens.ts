/**
 * TypeScript source cut into tokens, as far as the tests that read sources need it: comments, strings, templates
 * and regular expressions are told apart from code, so that a word inside them is never taken for code.
 * It is no parser, and knows no JSX.
 */

export type TokenKind = "word" | "number" | "string" | "template" | "regex" | "comment" | "punctuation";

/** `text` is the content without quotes for a string or template part, else the source text itself. */
export type Token = { readonly kind: TokenKind; readonly text: string; readonly line: number };

const wordPattern = /[\p{ID_Start}$_#][\p{ID_Continue}$\u200c\u200d]*/uy;
const numberPattern = /\d[\w.]*/y;
const regexPattern = /\/(?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
const stringPattern = /"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'/y;
const templatePattern = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*/y;
const commentPattern = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|^#![^\n]*/y;
const spacePattern = /\s+/y;

/** Words after which a slash begins a regular expression and not a division. */
const expressionWords = new Set(["return", "typeof", "case", "in", "of", "delete", "void", "throw", "await"]);

function beginsRegex(previous: Token | undefined): boolean {
  if (previous === undefined) return true;
  if (previous.kind === "word") return expressionWords.has(previous.text);
  return previous.kind === "punctuation" && !")]}".includes(previous.text);
}

/** All tokens of a source text in order; text that is not closed ends the list without an error. */
export function tokensFrom(source: string): readonly Token[] {
  const tokens: Token[] = [];
  const openBraces: number[] = [];
  let position = 0;
  let line = 1;
  let previous: Token | undefined;

  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = position;
    return pattern.exec(source)?.[0];
  };
  const take = (kind: TokenKind, length: number, text: string): void => {
    const token: Token = { kind, text, line };
    tokens.push(token);
    if (kind !== "comment") previous = token;
    skip(length);
  };
  const skip = (length: number): void => {
    for (let end = position + length; position < end; position += 1) if (source[position] === "\n") line += 1;
  };
  /** Takes the part of a template from here to its end or to the next `${`. */
  const takeTemplatePart = (): void => {
    const text = match(templatePattern) ?? "";
    take("template", text.length, text);
    if (source.startsWith("${", position)) openBraces.push(0);
    skip(source[position] === "`" ? 1 : 2);
  };

  while (position < source.length) {
    const space = match(spacePattern);
    if (space !== undefined) {
      skip(space.length);
      continue;
    }
    const comment = match(commentPattern);
    if (comment !== undefined) {
      take("comment", comment.length, comment);
      continue;
    }
    const string = match(stringPattern);
    if (string !== undefined) {
      take("string", string.length, string.slice(1, -1));
      continue;
    }
    const character = source[position] as string;
    if (character === "`") {
      skip(1);
      takeTemplatePart();
      continue;
    }
    const depth = openBraces.at(-1);
    if (depth !== undefined && "{}".includes(character)) {
      if (character === "}" && depth === 0) {
        openBraces.pop();
        skip(1);
        takeTemplatePart();
        continue;
      }
      openBraces[openBraces.length - 1] = depth + (character === "{" ? 1 : -1);
    }
    const regex = character === "/" && beginsRegex(previous) ? match(regexPattern) : undefined;
    const word = match(wordPattern);
    const number = match(numberPattern);
    if (regex !== undefined) take("regex", regex.length, regex);
    else if (word !== undefined) take("word", word.length, word);
    else if (number !== undefined) take("number", number.length, number);
    else take("punctuation", 1, character);
  }
  return tokens;
}

/** The tokens without comments. */
export const codeFrom = (tokens: readonly Token[]): readonly Token[] =>
  tokens.filter((token) => token.kind !== "comment");
