/**
 * The repository as the architecture rules see it: files with their tokens and imports, where each stands in the
 * layers of the design, and what a rule is.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Import, importsFrom, importTarget } from "../support/imports.js";
import { codeFrom, type Token, tokensFrom } from "../support/tokens.js";

/** An import and what it means: a path in the repository, `node:…`, a package; nothing when it is computed. */
export type Link = Import & { readonly target: string | undefined };

export type SourceFile = {
  /** From the root of the repository, with slashes. */
  readonly path: string;
  readonly text: string;
  /** Without comments; empty for files that are not TypeScript or JavaScript. */
  readonly code: readonly Token[];
  readonly imports: readonly Link[];
};

export type Project = readonly SourceFile[];

/** Contents by path, for a project that exists only in a test. */
export type Planted = Readonly<Record<string, string>>;

export type Rule = {
  readonly name: string;
  readonly reason: string;
  /** One sentence, `path:line what`, for each violation. */
  readonly check: (project: Project) => readonly string[];
  /** Projects in which the first file breaks the rule. */
  readonly caught: Readonly<Record<string, Planted>>;
  /** Projects that look alike and do not break it. */
  readonly allowed: Readonly<Record<string, Planted>>;
};

const isScript = (path: string): boolean => /\.(ts|mjs|js)$/.test(path);

export function sourceFrom(path: string, text: string): SourceFile {
  const code = isScript(path) ? codeFrom(tokensFrom(text)) : [];
  const imports = importsFrom(code).map((found) => ({
    ...found,
    target: found.specifier === undefined ? undefined : importTarget(path, found.specifier),
  }));
  return { path, text, code, imports };
}

export const projectFrom = (planted: Planted): Project =>
  Object.entries(planted).map(([path, text]) => sourceFrom(path, text));

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Names that `.gitignore` leaves out, which has only plain names and stars; git itself need not be there. */
function ignoredNames(): RegExp {
  const patterns = readFileSync(join(root, ".gitignore"), "utf8").split("\n").filter(Boolean);
  const names = [".git", ...patterns].map((pattern) =>
    pattern.replace(/^\/|\/$/g, "").replace(/[.*]/g, (character) => (character === "*" ? ".*" : "\\.")),
  );
  return new RegExp(`^(${names.join("|")})$`);
}

/** Every text file of the repository that git tracks or would track. */
export function openProject(): Project {
  const ignored = ignoredNames();
  const filesIn = (folder: string): readonly SourceFile[] =>
    readdirSync(join(root, folder), { withFileTypes: true })
      .filter(({ name }) => !ignored.test(name))
      .flatMap((entry) => {
        const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
        if (entry.isDirectory()) return filesIn(path);
        const text = entry.isFile() ? readFileSync(join(root, path), "utf8") : "\0";
        return text.includes("\0") ? [] : [sourceFrom(path, text)];
      });
  return filesIn("");
}

export const domains = ["memory", "recall", "stores", "projects", "access"] as const;

/** The folders of `src` and their levels; a domain's level depends on the file. */
const folderLevels: Readonly<Record<string, number>> = {
  kernel: 0,
  wire: 1,
  db: 1,
  config: 1,
  text: 1,
  memsync: 2,
  client: 4,
  server: 5,
  engines: 5,
  dirsync: 5,
  mcp: 5,
  console: 5,
  cli: 6,
};

/** The files that stand in `src` itself, at the top. */
const topFiles = ["main.ts", "index.ts", "app.ts"];

/** What a file of a domain is, by its name; a rule is any other name. */
export type Role = "wire" | "engine" | "service" | "port" | "rule";

export type Place = {
  /** The folder of `src`, or the name of a file in `src` itself, or `gen`. */
  readonly unit: string;
  readonly level: number;
  readonly role: Role | undefined;
};

function roleOf(file: string): Role {
  if (/^(rpc|rest|mcp)\b/.test(file)) return "wire";
  if (/^(sqlite|postgres)\b/.test(file)) return "engine";
  if (/^service\b/.test(file)) return "service";
  return /^storage\b/.test(file) ? "port" : "rule";
}

const roleLevels: Readonly<Record<Role, number>> = { rule: 2, port: 2, service: 3, wire: 4, engine: 4 };

/** Where a file of `src` or `gen` stands; `undefined` for other files and for folders that nobody knows. */
export function placeOf(path: string): Place | undefined {
  const [top, unit = "", file] = path.split("/");
  if (top === "gen") return { unit: "gen", level: 0, role: undefined };
  if (top !== "src") return undefined;
  if (file === undefined) return topFiles.includes(unit) ? { unit, level: 6, role: undefined } : undefined;
  if (isDomain(unit)) {
    const role = roleOf(file);
    return { unit, level: roleLevels[role], role };
  }
  const level = folderLevels[unit];
  return level === undefined ? undefined : { unit, level, role: undefined };
}

export const isDomain = (unit: string): boolean => (domains as readonly string[]).includes(unit);

/** Files of `src`, the only ones that have layers. */
export const sourcesOf = (project: Project): Project =>
  project.filter((file) => /^src\/.+\.tsx?$/.test(file.path));

/** A sentence for each import of the files of `src` that `isForbidden` names. */
export function forbiddenImports(
  project: Project,
  isForbidden: (from: Place, target: string, to: Place | undefined, path: string) => boolean,
): readonly string[] {
  return sourcesOf(project).flatMap((file) => {
    const from = placeOf(file.path);
    if (from === undefined) return [];
    return file.imports
      .filter(({ target }) => target !== undefined && isForbidden(from, target, placeOf(target), file.path))
      .map(({ target, line }) => `${file.path}:${line} imports ${target}`);
  });
}
