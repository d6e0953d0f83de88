/** The rules of how a file looks (design sections 1 and 4): names, length, header, exports, and what it may not hold. */
import { defaultExportLines } from "../support/imports.js";
import { domains, type Project, type Rule, type SourceFile, sourcesOf } from "./project.js";

const maxLines = 400;
const requiredOfDomain = ["README.md", "model.ts", "storage.ts", "service.ts", "schema.ts"];

/** Code that people write: generated code and configuration of tools are left out. */
const written = (project: Project): Project =>
  project.filter(({ path }) => /^(src|test|scripts)\/.+\.(ts|mjs|js)$/.test(path));

const kebabName = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)*$/;

/** Lines of a text that match, as sentences. */
const linesOf = (file: SourceFile, pattern: RegExp, what: string): readonly string[] =>
  file.text
    .split("\n")
    .flatMap((line, index) => (pattern.test(line) ? [`${file.path}:${index + 1} ${what}`] : []));

const longText = (lines: number): string => "/** Long. */\n".padEnd(lines * 2 + 11, "a\n");

/** Made of parts, so that this file does not hold what it forbids. */
const machinePath = ["", "home", "ada", "memoryd"].join("/");
const registryUrl = ["https:", "", "registry.example.org", "memoryd"].join("/");

export const shapeRules: readonly Rule[] = [
  {
    name: "a file has at most 400 lines",
    reason: "a reader holds one file in mind at a time",
    check: (project) =>
      written(project)
        .filter(({ text }) => text.trimEnd().split("\n").length > maxLines)
        .map(({ path, text }) => `${path}:${maxLines + 1} has ${text.trimEnd().split("\n").length} lines`),
    caught: { "one line too many": { "src/memory/service.ts": longText(maxLines + 1) } },
    allowed: {
      "the last line that fits": { "src/memory/service.ts": longText(maxLines) },
      "generated code": { "gen/magus/memory/v1/memory_pb.ts": longText(maxLines + 1) },
    },
  },
  {
    name: "files and folders have kebab-case names",
    reason: "one way to write a name, also where upper and lower case are the same file",
    check: (project) =>
      project
        .filter(({ path }) => /^(src|test|scripts|proto)\//.test(path))
        .filter(({ path }) => {
          const name = path.startsWith("proto/") ? /^[a-z0-9_]+\.proto$/ : kebabName;
          const parts = path.split("/");
          const file = parts.pop() ?? "";
          return !(file === "README.md" || name.test(file)) || parts.some((part) => !kebabName.test(part));
        })
        .map(({ path }) => `${path}:1 is not in kebab-case`),
    caught: {
      camels: { "src/memory/pageToken.ts": "" },
      underscores: { "test/memory/page_token.test.ts": "" },
      "a folder": { "src/Memory/model.ts": "" },
    },
    allowed: {
      "dots, digits and a page about a folder": {
        "test/memory/wire.test.ts": "",
        "test/vectors/utf8-cases.json": "",
        "src/memory/README.md": "",
        "proto/magus/memory/v1/memory.proto": "",
      },
    },
  },
  {
    name: "a file opens with its header",
    reason: "it says what the file holds and leaves out, so that nobody must read on to know",
    check: (project) =>
      written(project)
        .filter(({ text }) => !/^(#!.*\n)?\/\*\*[\s*]+\S/.test(text))
        .map(({ path }) => `${path}:1 does not open with /** … */`),
    caught: {
      "none at all": { "src/memory/mask.ts": "export const a = 1;\n" },
      "after the imports": { "src/memory/mask.ts": 'import "./a.js";\n/** Late. */\n' },
      "an ordinary comment": { "test/memory/mask.test.ts": "// Masks.\n" },
    },
    allowed: {
      "below the line that runs it": { "src/main.ts": "#!/usr/bin/env node\n/** The program. */\n" },
    },
  },
  {
    name: "exports have names",
    reason: "a thing is then called the same wherever it is used, and can be searched for",
    check: (project) =>
      written(project)
        .filter(({ path }) => !path.startsWith("scripts/"))
        .flatMap(({ path, code }) =>
          defaultExportLines(code).map((line) => `${path}:${line} has a default export`),
        ),
    caught: {
      "a function": { "src/memory/mask.ts": "export default function mask() {}" },
      "by another name": { "src/memory/mask.ts": "const mask = 1;\nexport { mask as default };" },
    },
    allowed: {
      "a switch": { "src/memory/mask.ts": "switch (a) { default: b(); }" },
      "a plug-in whose host asks for one": { "scripts/reporter.mjs": "export default class Reporter {}" },
    },
  },
  {
    name: "src/index.ts is the one barrel",
    reason: "an import then names the file where a thing is, and loads no neighbour",
    check: (project) => [
      ...sourcesOf(project)
        .filter(({ path }) => path !== "src/index.ts")
        .flatMap(({ path, imports }) =>
          imports
            .filter(({ form }) => form === "export")
            .map(({ line }) => `${path}:${line} passes exports on`),
        ),
      ...sourcesOf(project)
        .filter(({ path }) => /\/index\.tsx?$/.test(path) && path !== "src/index.ts")
        .map(({ path }) => `${path}:1 is an index file`),
    ],
    caught: {
      "everything of a file": { "src/memory/model.ts": 'export * from "./mask.js";' },
      "one name": { "src/memory/model.ts": 'export {\n  mask,\n} from "./mask.js";' },
      "a type": { "src/memory/model.ts": 'export type { Mask } from "./mask.js";' },
      "an index file": { "src/memory/index.ts": 'import "./mask.js";' },
    },
    allowed: {
      "the package's entry": { "src/index.ts": 'export { createApp } from "./app.js";' },
      "own exports": { "src/memory/mask.ts": 'const a = 1;\nexport { a };\nimport { b } from "./b.js";' },
    },
  },
  {
    name: "a domain has its page, model, port, service and schema",
    reason: "who knows one domain knows where to look in all of them",
    check: (project) => {
      const paths = project.map(({ path }) => path);
      return domains.flatMap((domain) => {
        const first = paths.find((path) => path.startsWith(`src/${domain}/`));
        return requiredOfDomain
          .map((name) => `src/${domain}/${name}`)
          .filter((path) => first !== undefined && !paths.includes(path))
          .map((path) => `${first}:1 stands without ${path}`);
      });
    },
    caught: { "a model alone": { "src/recall/README.md": "", "src/recall/model.ts": "" } },
    allowed: {
      "a whole one": Object.fromEntries(requiredOfDomain.map((name) => [`src/recall/${name}`, ""])),
      "none yet": { "src/app.ts": "" },
    },
  },
  {
    name: "nothing is marked to be done later",
    reason: "what is not done is an issue or a milestone in the requirements, where it is found again",
    check: (project) =>
      written(project)
        .filter(({ path }) => !path.startsWith("test/architecture/"))
        .flatMap((file) => linesOf(file, /\b(TODO|FIXME|XXX|HACK)\b/, "is marked for later")),
    caught: { "a note to oneself": { "src/memory/mask.ts": "// TODO: sub-paths" } },
    allowed: { "a word that holds one": { "src/memory/mask.ts": "const methodology = 1;" } },
  },
  {
    name: "no file names a path of a machine or a package registry",
    reason: "what works only where it was written is broken for whoever clones it",
    check: (project) =>
      project.flatMap((file) => [
        ...linesOf(file, /(^|[^.\w-])\/(root|home|work)\/[A-Za-z.]/, "has a path of this machine"),
        ...linesOf(
          file,
          /:\/\/[^\s"'/]*\b(registry|npmjs|artifactory|nexus|verdaccio)\b/i,
          "names a registry",
        ),
      ]),
    caught: {
      "a path in a page": { "README.md": `Run it in ${machinePath}.` },
      "a path in the lock file": { "package-lock.json": `{"resolved":"file:${machinePath}"}` },
      "a registry": { ".npmrc": `registry=${registryUrl}` },
    },
    allowed: {
      "paths of a system and of a package": {
        "README.md": "/usr/bin/env, /tmp/memoryd.sock and node_modules/home/work/a",
      },
    },
  },
];
