/**
 * The rules of what has one home (design section 1, rule 4): generated code, the drivers, the environment, the
 * clock, chance and output.
 */
import { forbiddenImports, type Rule, type SourceFile, sourcesOf } from "./project.js";

/** Lines where the code, joined by single spaces, has `pattern`; texts and templates are left out of it. */
function linesWith(file: SourceFile, pattern: RegExp): readonly number[] {
  const starts: { readonly at: number; readonly line: number }[] = [];
  let text = "";
  for (const token of file.code) {
    starts.push({ at: text.length, line: token.line });
    const isText = token.kind === "string" || token.kind === "template" || token.kind === "regex";
    text += isText ? '"" ' : `${token.text} `;
  }
  return [...text.matchAll(new RegExp(pattern, "g"))].map(
    ({ index }) => starts.findLast(({ at }) => at <= index)?.line ?? 1,
  );
}

/** A rule that code with `pattern` stands in the file `home` alone, or nowhere in `src`. */
const atHome = (project: readonly SourceFile[], home: RegExp, pattern: RegExp, what: string) =>
  sourcesOf(project)
    .filter(({ path }) => !home.test(path))
    .flatMap((file) => linesWith(file, pattern).map((line) => `${file.path}:${line} ${what}`));

export const homeRules: readonly Rule[] = [
  {
    name: "messages of our services stop at rpc.ts, client and console",
    reason: "the rest works on model values, so no change of a proto reaches a rule or a storage",
    check: (project) =>
      forbiddenImports(project, (from, target, _to, path) => {
        if (!target.startsWith("gen/") || !/^gen\/(magus|memoryd)\//.test(target)) return false;
        return from.unit !== "client" && from.unit !== "console" && !/^src\/\w+\/rpc[-.]/.test(path);
      }),
    caught: {
      "a rule": { "src/memory/mask.ts": 'import { Memory } from "../../gen/magus/memory/v1/memory_pb.js";' },
      "a command": {
        "src/cli/memory.ts": 'import type { M } from "../../gen/magus/memory/v1/memory_pb.js";',
      },
      "the public entry": { "src/index.ts": 'export * from "../gen/magus/memory/v1/memory_pb.js";' },
    },
    allowed: {
      "rpc and client": {
        "src/memory/rpc.ts": 'import { Memory } from "../../gen/magus/memory/v1/memory_pb.js";',
        "src/client/clients.ts": 'import { MemoryService } from "../../gen/magus/memory/v1/memory_pb.js";',
      },
    },
  },
  {
    name: "google.rpc, health and reflection stop at wire and server",
    reason: "how an error or a probe looks on a wire is one table's matter",
    check: (project) =>
      forbiddenImports(
        project,
        (from, target) =>
          /^gen\/(google|grpc|health)\//.test(target) && from.unit !== "wire" && from.unit !== "server",
      ),
    caught: {
      "a domain's wire": { "src/memory/rpc.ts": 'import { ErrorInfo } from "../../gen/google/rpc/e_pb.js";' },
      "the client": { "src/client/health.ts": 'import { Health } from "../../gen/health/v1/health_pb.js";' },
    },
    allowed: { "the wires": { "src/wire/errors.ts": 'import { E } from "../../gen/google/rpc/e_pb.js";' } },
  },
  {
    name: "better-sqlite3 stops at db/sqlite and the sqlite adapters",
    reason: "drivers' faults are translated where they arise, and another driver is another file",
    check: (project) =>
      forbiddenImports(
        project,
        (from, target, _to, path) =>
          target === "better-sqlite3" && from.role !== "engine" && !path.startsWith("src/db/sqlite/"),
      ),
    caught: {
      "a service": { "src/memory/service.ts": 'import Database from "better-sqlite3";' },
      "a type alone": { "src/engines/sqlite.ts": 'import type { Database } from "better-sqlite3";' },
      "a type in place": { "src/app.ts": 'type Connection = import("better-sqlite3").Database;' },
    },
    allowed: {
      "db and an adapter": {
        "src/db/sqlite/open.ts": 'import Database from "better-sqlite3";',
        "src/memory/sqlite.ts": 'import type { Statement } from "better-sqlite3";',
      },
    },
  },
  {
    name: "pg stops at db/postgres and the postgres adapters",
    reason: "drivers' faults are translated where they arise, and another driver is another file",
    check: (project) =>
      forbiddenImports(
        project,
        (from, target, _to, path) =>
          /^pg(-|$)/.test(target) && from.role !== "engine" && !path.startsWith("src/db/postgres/"),
      ),
    caught: { "an engine's opener": { "src/engines/postgres.ts": 'import { Pool } from "pg";' } },
    allowed: { "the database": { "src/db/postgres/open.ts": 'import { Pool } from "pg";' } },
  },
  {
    name: "the environment is read in config/env.ts",
    reason: "every setting then has one name, one order of precedence and one place to be explained",
    check: (project) => [
      ...atHome(
        project,
        /^src\/config\/env\.ts$/,
        /(?<!\. )\bprocess (\? )?\. env\b|\bprocess \[|= process (?![.?[])/,
        "reads the environment",
      ),
      ...forbiddenImports(
        project,
        (_from, target, _to, path) => target === "node:process" && path !== "src/config/env.ts",
      ),
    ],
    caught: {
      directly: { "src/cli/status.ts": "const home = process.env.HOME;" },
      "by an index": { "src/cli/status.ts": 'const home = process["env"].HOME;' },
      "by taking it apart": { "src/server/http.ts": "const { env } = process;" },
      "by the module": { "src/server/http.ts": 'import { env } from "node:process";' },
    },
    allowed: {
      "its home": { "src/config/env.ts": "export const read = () => process.env;" },
      "other parts of the process": {
        "src/server/lifecycle.ts": "const id = process.pid; // not process.env",
      },
    },
  },
  {
    name: "the time of day is read in kernel/clock.ts",
    reason: "a test then sets it, also back; durations are measured by performance.now",
    check: (project) =>
      atHome(
        project,
        /^src\/kernel\/clock\.ts$/,
        /\bDate \. now\b|\bDate \( \)|\bnew Date (?!\()/,
        "reads the clock",
      ),
    caught: {
      now: { "src/memory/service.ts": "const at = Date.now();" },
      "now as a function": { "src/memory/service.ts": "const clock = { nowMs: Date.now };" },
      "a new date": { "src/config/discovery.ts": "const at = new Date().toISOString();" },
    },
    allowed: {
      "a known time": { "src/memory/rpc.ts": "const text = new Date(updatedMs).toISOString();" },
      "a duration": { "src/server/http.ts": "const startMs = performance.now();" },
    },
  },
  {
    name: "chance comes from kernel/ids.ts",
    reason: "one cryptographic source, and one place to see how much of it an identifier has",
    check: (project) =>
      atHome(
        project,
        /^src\/kernel\/ids\.ts$/,
        /\bMath \. random\b|\b(randomBytes|randomUUID|randomInt|randomFill|randomFillSync|getRandomValues)\b/,
        "draws chance",
      ),
    caught: {
      "a weak number": { "src/client/retry.ts": "const delayMs = 100 * Math.random();" },
      "an id": { "src/server/http.ts": 'import { randomUUID } from "node:crypto";' },
      "random bytes": { "src/config/token.ts": "const token = crypto.getRandomValues(bytes);" },
    },
    allowed: {
      "the home's functions": { "src/config/token.ts": 'import { randomHex } from "../kernel/ids.js";' },
    },
  },
  {
    name: "nothing is printed but by cli/output.ts",
    reason: "stdout is promised to be one JSON line or a person's answer; a stray line breaks who reads it",
    check: (project) =>
      atHome(
        project,
        /^src\/cli\/output\.ts$/,
        /(?<!\. )\bconsole (\? )?[.[]|\bprocess \. (stdout|stderr) (\? )?\. write\b|= console (?![.?[])/,
        "prints",
      ),
    caught: {
      "a console": { "src/server/http.ts": 'console.error("failed");' },
      "a console taken apart": { "src/server/http.ts": "const { log } = console;" },
      "a stream": { "src/cli/status.ts": 'process.stdout.write("ok");' },
    },
    allowed: {
      "its home": { "src/cli/output.ts": 'process.stdout.write("ok");' },
      "the folder of that name": { "src/server/page.ts": 'const folder = join(root, "console");' },
    },
  },
];
