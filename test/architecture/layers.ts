/**
 * The rules of who may import whom between the folders of `src` (design section 1): arrows point down, domains do
 * not know each other, and the parts that everything meets in can name no domain.
 */
import { forbiddenImports, isDomain, placeOf, type Rule, sourcesOf } from "./project.js";

/** Who may import whom on the top level, where no arrow can point down. */
const topArrows: Readonly<Record<string, readonly string[]>> = {
  "main.ts": ["cli"],
  "index.ts": ["app.ts"],
  cli: ["app.ts"],
};

const isOurs = (target: string): boolean => /^(src|gen)\//.test(target);

/** The domain whose service a generated file describes, if it does. */
const isDomainProto = (target: string): boolean => /^gen\/(magus|memoryd)\//.test(target);

export const layerRules: readonly Rule[] = [
  {
    name: "src has the folders of the design and no others",
    reason: "a folder is a domain or a layer; one more is a decision about the design, not about a file",
    check: (project) =>
      sourcesOf(project)
        .filter(({ path }) => placeOf(path) === undefined)
        .map(({ path }) => `${path}:1 is in no folder that the design knows`),
    caught: {
      "a folder of helpers": { "src/utils/strings.ts": "" },
      "a file beside the entry points": { "src/helpers.ts": "" },
    },
    allowed: {
      "a domain, a layer and an entry point": {
        "src/memory/mask.ts": "",
        "src/kernel/clock.ts": "",
        "src/app.ts": "",
      },
    },
  },
  {
    name: "the kernel imports nothing of ours",
    reason: "everything rests on it, so whatever it needed everything would need",
    check: (project) =>
      forbiddenImports(
        project,
        (from, target, to) => from.unit === "kernel" && isOurs(target) && to?.unit !== "kernel",
      ),
    caught: {
      "a domain's model": { "src/kernel/limits.ts": 'import { limits } from "../memory/model.js";' },
      "generated code": { "src/kernel/ids.ts": 'import type { Memory } from "../../gen/magus/m_pb.js";' },
    },
    allowed: { "another file of the kernel": { "src/kernel/log.ts": 'import { nowMs } from "./clock.js";' } },
  },
  {
    name: "arrows point down",
    reason: "a lower layer that knows a higher one can neither be read, tested nor replaced without it",
    check: (project) =>
      forbiddenImports(project, (from, _target, to) => {
        if (to === undefined || from.unit === to.unit) return false;
        return to.level >= from.level && !topArrows[from.unit]?.includes(to.unit);
      }),
    caught: {
      "up from the wire": { "src/wire/connect.ts": 'import { routes } from "../memory/rpc.js";' },
      "up by a type alone": { "src/db/migrate.ts": 'import type { Caps } from "../memory/upsert.js";' },
      "up over several lines": {
        "src/text/tokens.ts": 'import {\n  run, // why\n} from "../server/run.js";',
      },
      "up by a call": { "src/config/load.ts": 'export const late = () => import("../engines/sqlite.js");' },
      "up by a type that is imported in place": {
        "src/wire/rest.ts": 'type Late = import("../cli/output.js").Output;',
      },
      "up by passing on": { "src/client/daemon.ts": 'export { startServer } from "../server/http.js";' },
      "up for a side effect": { "src/memsync/slug.ts": 'import "../client/daemon.js";' },
      "up behind a regular expression and a nested template": {
        "src/wire/rest.ts": `const a = /["'\`]/, b = \`\${\`}\${1}\`}'\`;\nimport { c } from '../cli/c.js';`,
      },
      sideways: { "src/server/http.ts": 'import { openStorages } from "../engines/storages.js";' },
      "into the program": { "src/cli/serve.ts": 'import { run } from "../main.js";' },
    },
    allowed: {
      down: { "src/server/http.ts": 'import { errorDomain } from "../wire/errors.js";' },
      "inside one folder": { "src/server/http.ts": 'import { guard } from "./guard.js";' },
      "the entry points": {
        "src/main.ts": 'import { run } from "./cli/run.js";',
        "src/cli/serve.ts": 'import { createApp } from "../app.js";',
        "src/index.ts": 'export { createApp } from "./app.js";',
      },
      "words in a comment and in a text": {
        "src/wire/rest.ts": '// import "../cli/a.js";\nexport const a = `import "../cli/a.js"`;',
      },
    },
  },
  {
    name: "a domain never imports another domain",
    reason: "what two of them need goes down to kernel, memsync or text, or is handed in by app.ts",
    check: (project) =>
      forbiddenImports(
        project,
        (from, _target, to) =>
          to !== undefined && isDomain(from.unit) && isDomain(to.unit) && from.unit !== to.unit,
      ),
    caught: {
      "a rule": { "src/recall/rank.ts": 'import { pageBudget } from "../memory/size.js";' },
      "another's service": { "src/stores/rpc.ts": 'import type { Access } from "../access/service.js";' },
    },
    allowed: { "its own": { "src/recall/service.ts": 'import { rank } from "./rank.js";' } },
  },
  {
    name: "the adapters of a domain are joined in app.ts and the engines",
    reason: "one file knows every part; a second one would be a second way to put the daemon together",
    check: (project) =>
      forbiddenImports(project, (from, _target, to) => {
        if (to === undefined || !isDomain(to.unit) || from.unit === to.unit) return false;
        if (from.unit === "app.ts") return false;
        if (from.unit === "engines") return to.role === "wire" || to.role === "service";
        return to.role !== "rule";
      }),
    caught: {
      "a command with a storage": { "src/cli/doctor.ts": 'import { open } from "../memory/sqlite.js";' },
      "a command with a service": { "src/cli/memory.ts": 'import { create } from "../memory/service.js";' },
      "an engine with a service": {
        "src/engines/sqlite.ts": 'import { create } from "../memory/service.js";',
      },
    },
    allowed: {
      "app.ts": { "src/app.ts": 'import { registerMemory } from "./memory/rpc.js";' },
      "an engine": {
        "src/engines/sqlite.ts":
          'import { create } from "../memory/sqlite.js";\nimport { memoryMigrations } from "../memory/schema.js";',
      },
    },
  },
  {
    name: "server and mcp can name no domain",
    reason: "their routes and parts are handed to them, so a new domain changes neither",
    check: (project) => [
      ...forbiddenImports(project, (from, target, to) => {
        if (from.unit !== "server" && from.unit !== "mcp") return false;
        return isDomainProto(target) || (to !== undefined && isDomain(to.unit));
      }),
      ...sourcesOf(project)
        .filter(({ path }) => /^src\/(server|mcp)\//.test(path))
        .flatMap(({ path, code }) =>
          code
            .filter(
              ({ kind, text }) =>
                /^(string|template)$/.test(kind) && /\b(magus|memoryd)\.\w+\.v\d/.test(text),
            )
            .map(({ line, text }) => `${path}:${line} names ${text}`),
        ),
    ],
    caught: {
      "a domain's rule": { "src/server/metrics.ts": 'import { limits } from "../memory/model.js";' },
      "a domain's messages": {
        "src/server/routes.ts": 'import { MemoryService } from "../../gen/magus/memory/v1/memory_pb.js";',
      },
      "a domain's service by its name": {
        "src/mcp/tools.ts": 'export const service = "magus.memory.v1.MemoryService";',
      },
    },
    allowed: {
      "health and reflection": {
        "src/server/health.ts": 'import { Health } from "../../gen/health/v1/health_pb.js";',
      },
    },
  },
  {
    name: "dirsync knows the daemon only through the client",
    reason: "a directory is synced with a daemon on another machine by the same code",
    check: (project) =>
      forbiddenImports(
        project,
        (from, target, to) =>
          from.unit === "dirsync" &&
          to !== undefined &&
          isOurs(target) &&
          !["dirsync", "client", "memsync", "text", "config", "db", "kernel"].includes(to.unit),
      ),
    caught: {
      "the contract itself": { "src/dirsync/apply.ts": 'import { Store } from "../../gen/memoryd/s_pb.js";' },
      "a domain's rule": { "src/dirsync/scan.ts": 'import { limits } from "../stores/model.js";' },
      "the wire": { "src/dirsync/run.ts": 'import { errorDomain } from "../wire/errors.js";' },
    },
    allowed: {
      "the client, the shared rules and the owner's lock": {
        "src/dirsync/run.ts":
          'import { ensureDaemon } from "../client/ensure.js";\nimport { plan } from "../memsync/plan.js";\nimport { acquireOwnership } from "../db/sqlite/ownership.js";',
      },
    },
  },
  {
    name: "the client carries no daemon",
    reason: "a program that only calls the daemon must not load its storage or its domains",
    check: (project) =>
      forbiddenImports(
        project,
        (from, _target, to) =>
          from.unit === "client" &&
          to !== undefined &&
          !["client", "config", "memsync", "kernel", "gen"].includes(to.unit),
      ),
    caught: {
      "a storage's lock": { "src/client/ensure.ts": 'import { own } from "../db/sqlite/ownership.js";' },
      "a domain's rule": { "src/client/memory.ts": 'import { limits } from "../memory/model.js";' },
    },
    allowed: {
      "configuration and messages": {
        "src/client/memory.ts":
          'import { readDiscovery } from "../config/discovery.js";\nimport { MemoryService } from "../../gen/magus/memory/v1/memory_pb.js";',
      },
    },
  },
];
