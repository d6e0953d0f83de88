/**
 * What a TypeScript module imports and exports, read from its tokens: static, side-effect, re-exporting, dynamic
 * and type imports over any number of lines, and `require`.
 */
import { builtinModules } from "node:module";
import { posix } from "node:path";
import type { Token } from "./tokens.js";

export type ImportForm = "import" | "export" | "call";

export type Import = {
  /** As written; `undefined` for a call whose argument is not a plain string. */
  readonly specifier: string | undefined;
  readonly form: ImportForm;
  readonly line: number;
};

const isWord = (token: Token | undefined, text: string): boolean =>
  token?.kind === "word" && token.text === text;
const isPunctuation = (token: Token | undefined, text: string): boolean =>
  token?.kind === "punctuation" && token.text === text;

/** Where the specifier of a declaration that begins at `start` stands: after `from`, before any other statement. */
function specifierAfter(code: readonly Token[], start: number): string | undefined {
  for (let index = start; index < code.length; index += 1) {
    const token = code[index] as Token;
    if (isWord(token, "from") && code[index + 1]?.kind === "string") return code[index + 1]?.text;
    const belongs = token.kind === "word" || token.kind === "string" || "{},*".includes(token.text);
    if (!belongs) return undefined;
  }
  return undefined;
}

/** Every import of a module; `code` is without comments. */
export function importsFrom(code: readonly Token[]): readonly Import[] {
  const imports: Import[] = [];
  code.forEach((token, index) => {
    if (token.kind !== "word" || isPunctuation(code[index - 1], ".")) return;
    const next = code[index + 1];
    const line = token.line;
    if (isPunctuation(next, "(") && (token.text === "import" || token.text === "require")) {
      const argument = code[index + 2];
      const isPlain = argument?.kind === "string" && isPunctuation(code[index + 3], ")");
      imports.push({ specifier: isPlain ? argument.text : undefined, form: "call", line });
    } else if (token.text === "import" && next?.kind === "string") {
      imports.push({ specifier: next.text, form: "import", line });
    } else if (token.text === "import" && !isPunctuation(next, ".")) {
      const specifier = specifierAfter(code, index + 1);
      if (specifier !== undefined) imports.push({ specifier, form: "import", line });
    } else if (
      token.text === "export" &&
      (next?.text === "*" || next?.text === "{" || next?.text === "type")
    ) {
      const specifier = specifierAfter(code, index + 1);
      if (specifier !== undefined) imports.push({ specifier, form: "export", line });
    }
  });
  return imports;
}

/** The lines of a module's default exports, also of those written as `export { x as default }`. */
export function defaultExportLines(code: readonly Token[]): readonly number[] {
  return code
    .filter(
      (token, index) =>
        isWord(token, "default") && (isWord(code[index - 1], "export") || isWord(code[index - 1], "as")),
    )
    .map((token) => token.line);
}

const builtins = new Set(builtinModules);

/**
 * What a specifier in the file `from` means: a path in the repository for a relative one (with `.ts` for
 * `.js`), `node:…` for a part of Node, else the name of a package without the path inside it.
 */
export function importTarget(from: string, specifier: string): string {
  if (specifier.startsWith(".")) {
    return posix.join(posix.dirname(from), specifier).replace(/\.js$/, ".ts");
  }
  if (specifier.startsWith("node:")) return specifier;
  if (builtins.has(specifier)) return `node:${specifier}`;
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}
