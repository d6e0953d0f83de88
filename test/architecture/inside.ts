/**
 * The rules of who may import whom inside a domain (design section 1, rule 3): wire, service, rules and port, and
 * engine; and which folders stay pure.
 */
import { forbiddenImports, isDomain, type Rule, sourcesOf } from "./project.js";

/** Parts of Node by which a function reaches beyond its arguments. */
const outsideModules =
  /^node:(fs|net|tls|dns|dgram|http|http2|https|child_process|cluster|worker_threads|readline|process|os|sqlite)\b/;

export const insideRules: readonly Rule[] = [
  {
    name: "wires never see the port",
    reason: "a wire that reads or writes past the service answers what no rule has judged",
    check: (project) =>
      forbiddenImports(
        project,
        (from, _target, to) => from.role === "wire" && (to?.role === "port" || to?.role === "engine"),
      ),
    caught: {
      "the port's types": { "src/memory/rpc.ts": 'import type { MemoryStorage } from "./storage.js";' },
      "an engine": { "src/stores/rest.ts": 'import { createSqlite } from "./sqlite.js";' },
      "from a wire in two files": { "src/memory/rpc-messages.ts": 'import { Row } from "./storage.js";' },
    },
    allowed: {
      "service and model": {
        "src/memory/rpc.ts": 'import { x } from "./service.js";\nimport { y } from "./model.js";',
      },
    },
  },
  {
    name: "engines never see the service or a wire",
    reason: "an engine keeps the port's promises; what absence means is not its to decide",
    check: (project) =>
      forbiddenImports(
        project,
        (from, _target, to) =>
          from.role === "engine" && (to?.role === "service" || to?.role === "wire" || to?.unit === "wire"),
      ),
    caught: {
      "the service": { "src/memory/sqlite.ts": 'import { notFound } from "./service.js";' },
      "a wire": { "src/memory/postgres.ts": 'import { messageFrom } from "./rpc.js";' },
      "the wires' errors": {
        "src/recall/sqlite.ts": 'import { connectErrorFrom } from "../wire/errors.js";',
      },
    },
    allowed: {
      "port, schema and a rule": {
        "src/memory/sqlite.ts":
          'import type { MemoryStorage } from "./storage.js";\nimport { kinds } from "./schema.js";\nimport { merge } from "./upsert.js";',
      },
    },
  },
  {
    name: "the inside of a domain knows no protocol and no engine",
    reason: "handlers are plain functions from values to values, so any wire and any storage can use them",
    check: (project) =>
      forbiddenImports(project, (from, target, to, path) => {
        if (!isDomain(from.unit) || from.role === "wire" || from.role === "engine") return false;
        if (target.startsWith("@connectrpc/") || target.startsWith("@bufbuild/")) return true;
        const isSchema = path.endsWith("/schema.ts") && target === "src/db/migrate.ts";
        return to?.unit === "wire" || (to?.unit === "db" && !isSchema);
      }),
    caught: {
      "an RPC library": { "src/memory/service.ts": 'import { ConnectError } from "@connectrpc/connect";' },
      "messages' library": { "src/memory/model.ts": 'import { create } from "@bufbuild/protobuf";' },
      "the wires": { "src/memory/upsert.ts": 'import { errorDomain } from "../wire/errors.js";' },
      "a database": { "src/memory/storage.ts": 'import type { Connection } from "../db/sqlite/open.js";' },
      "a migration's type outside the schema": {
        "src/memory/model.ts": 'import type { Migration } from "../db/migrate.js";',
      },
    },
    allowed: {
      "the schema's migrations": {
        "src/memory/schema.ts": 'import type { Migration } from "../db/migrate.js";',
      },
      "a wire with its protocol": {
        "src/memory/rpc.ts": 'import { ConnectRouter } from "@connectrpc/connect";',
      },
    },
  },
  {
    name: "rules, services, memsync and text do no I/O",
    reason: "what decides can then be tested by tables and run twice without harm",
    check: (project) =>
      forbiddenImports(project, (from, target) => {
        const isPure =
          from.unit === "memsync" ||
          from.unit === "text" ||
          from.role === "rule" ||
          from.role === "port" ||
          from.role === "service";
        return isPure && outsideModules.test(target);
      }),
    caught: {
      "a rule that reads a file": { "src/memory/mask.ts": 'import { readFileSync } from "node:fs";' },
      "a service that asks the network": { "src/recall/service.ts": 'import { request } from "node:http";' },
      "by the old name of a module": { "src/memsync/tree.ts": 'import { readFile } from "fs/promises";' },
      "by require": { "src/text/tokens.ts": 'const { spawn } = require("child_process");' },
    },
    allowed: { "a hash": { "src/memsync/marker.ts": 'import { createHash } from "node:crypto";' } },
  },
  {
    name: "db knows no table",
    reason: "it opens, migrates and queues for every domain alike; a table belongs to its domain",
    check: (project) =>
      sourcesOf(project)
        .filter(({ path }) => path.startsWith("src/db/"))
        .flatMap(({ path, code }) =>
          code
            .filter(
              ({ kind, text }) =>
                (kind === "string" || kind === "template") &&
                /\b(memory|recall|stores|projects|access)_[a-z]/.test(text),
            )
            .map(({ line }) => `${path}:${line} names a domain's table`),
        ),
    caught: {
      "a statement": { "src/db/sqlite/open.ts": "const sql = `select count(*) from memory_records`;" },
    },
    allowed: {
      "its own table": {
        "src/db/migrate.ts": 'const sql = "select id from schema_steps"; // memory_records',
      },
    },
  },
];
