/**
 * The YAML of a file's front matter as plain values (memory.md M88): YAML 1.2 core, read by the library `yaml`
 * and fenced in here, so that no input takes long or reaches deep.
 *
 * | refused | seen |
 * | --- | --- |
 * | anchors, aliases, tags, directives, a second document | in the tokens, before anything is built |
 * | brackets or list marks more than 32 deep, more than 60,000 tokens | the same |
 * | duplicate keys, keys that are no scalars, values more than 32 deep | in the tree |
 * | anything that is no YAML, or no mapping | by the library |
 *
 * A fault is a line number alone, because the library's own words quote the text.
 */
import { Composer, CST, isMap, isScalar, isSeq, Lexer, Parser } from "yaml";

export type YamlScalar = {
  readonly kind: "scalar";
  /** As it is spelled, escapes and folding resolved. */
  readonly text: string;
  /** What it is in YAML 1.2 core; all that is quoted is text. */
  readonly type: "text" | "number" | "boolean" | "null";
};
export type YamlMap = { readonly kind: "map"; readonly entries: ReadonlyMap<string, YamlNode> };
export type YamlList = { readonly kind: "list"; readonly items: readonly YamlNode[] };
export type YamlNode = YamlScalar | YamlMap | YamlList;

/** What is wrong, and in which line of the text, from 1. */
export type YamlFault = { readonly kind: "fault"; readonly line: number; readonly description: string };

/** Deeper than any front matter that people write. */
const maxDepth = 32;
/** Enough for the largest record; the library takes some microseconds for each. */
const maxTokens = 60_000;

class Refused extends Error {
  constructor(
    readonly offset: number,
    readonly description: string,
  ) {
    super(description);
  }
}

const refusedTokens: Readonly<Record<string, string>> = {
  anchor: "has an anchor; write the value out",
  alias: "has an alias; write the value out",
  tag: "has a tag; leave it out",
  "directive-line": "has a directive; leave it out",
  "doc-end": "ends a document inside of the front matter; leave that line out",
};

const tooDeep = `is nested more than ${maxDepth} deep`;

/** Looks at every token on its way to the parser; throws {@link Refused}. */
function createGuard(): (lexeme: string) => void {
  let [offset, tokens, flowDepth, marksInLine, documents] = [0, 0, 0, 0, 0];
  let isContent = false;
  return (lexeme) => {
    tokens += 1;
    if (tokens > maxTokens) throw new Refused(offset, `has more than ${maxTokens} tokens; make it shorter`);
    // What follows this mark is a plain scalar, whatever it begins with.
    const type = isContent ? "content" : CST.tokenType(lexeme);
    isContent = type === "scalar";
    const description = type === null ? undefined : refusedTokens[type];
    if (description !== undefined) throw new Refused(offset, description);
    if (type === "doc-start" && ++documents > 1) throw new Refused(offset, "begins a second document");
    if (type === "flow-map-start" || type === "flow-seq-start") flowDepth += 1;
    else if (type === "flow-map-end" || type === "flow-seq-end") flowDepth -= 1;
    else if (type === "seq-item-ind" || type === "explicit-key-ind") marksInLine += 1;
    else if (type === "newline") marksInLine = 0;
    if (flowDepth + marksInLine > maxDepth) throw new Refused(offset, tooDeep);
    if (type !== "scalar" && type !== "doc-mode" && type !== "flow-error-end") offset += lexeme.length;
  };
}

function* tokensOf(source: string): Generator<CST.Token, void> {
  const guard = createGuard();
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(source)) {
    guard(lexeme);
    yield* parser.next(lexeme);
  }
  yield* parser.end();
}

const options = {
  version: "1.2",
  schema: "core",
  merge: false,
  resolveKnownTags: false,
  stringKeys: true,
  // The library compares every key with every other; here a map knows its keys.
  uniqueKeys: false,
  strict: true,
  logLevel: "error",
  prettyErrors: false,
} as const;

const offsetOf = (node: unknown): number => {
  const range = isScalar(node) || isMap(node) || isSeq(node) ? node.range : undefined;
  return range?.[0] ?? 0;
};

function scalarFrom(value: unknown, source: string | undefined): YamlScalar {
  if (value === null) return { kind: "scalar", text: source ?? "", type: "null" };
  if (typeof value === "boolean") return { kind: "scalar", text: source ?? String(value), type: "boolean" };
  if (typeof value === "number") return { kind: "scalar", text: source ?? String(value), type: "number" };
  return { kind: "scalar", text: source ?? String(value), type: "text" };
}

function nodeFrom(node: unknown, depth: number): YamlNode {
  if (depth > maxDepth) throw new Refused(offsetOf(node), tooDeep);
  if (node === null) return { kind: "scalar", text: "", type: "null" };
  if (isScalar(node)) return scalarFrom(node.value, node.source);
  if (isSeq(node)) return { kind: "list", items: node.items.map((item) => nodeFrom(item, depth + 1)) };
  if (!isMap(node)) throw new Refused(offsetOf(node), "has a value that is no text, list or mapping");
  const entries = new Map<string, YamlNode>();
  for (const { key, value } of node.items) {
    if (!isScalar(key)) throw new Refused(offsetOf(key ?? node), "has a key that is no text");
    const name = key.source ?? String(key.value ?? "");
    if (entries.has(name)) throw new Refused(offsetOf(key), "has a key twice");
    entries.set(name, nodeFrom(value, depth + 1));
  }
  return { kind: "map", entries };
}

function composed(source: string): YamlNode {
  const [document] = new Composer(options).compose(tokensOf(source), true, source.length);
  const error = document?.errors[0] ?? document?.warnings[0];
  if (error !== undefined) throw new Refused(error.pos[0], "is no YAML");
  return nodeFrom(document?.contents ?? null, 0);
}

function lineAt(source: string, offset: number): number {
  let line = 1;
  for (let at = source.indexOf("\n"); at !== -1 && at < offset; at = source.indexOf("\n", at + 1)) line += 1;
  return line;
}

/** The mapping that the text is. */
export function parseYaml(text: string): YamlMap | YamlFault {
  // Behind this mark no line is read as a directive; it takes the first line's place.
  const source = `---\n${text}`;
  const fault = (offset: number, description: string): YamlFault => ({
    kind: "fault",
    line: lineAt(source, offset) - 1,
    description,
  });
  try {
    const node = composed(source);
    return node.kind === "map" ? node : fault(source.length, "is no mapping of keys to values");
  } catch (error) {
    if (error instanceof Refused) return fault(error.offset, error.description);
    throw error;
  }
}
