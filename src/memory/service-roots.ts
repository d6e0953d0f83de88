/** The use cases that attach a workspace to a folder on the daemon's machine, and detach it (memory.md M61). */
import { isAbsolute } from "node:path";
import { assertRight } from "../kernel/caller.js";
import { byteLength } from "../kernel/utf8.js";
import { assertValid, limits } from "./model.js";
import { assertRootRoom, rootIdFromPath, rootIdViolations, rootNotFound, rootUnusable } from "./roots.js";
import { assertNoPrecondition, type Call, createScopes } from "./service-call.js";
import type { RootStorage } from "./storage-roots.js";
import type { TreeReader } from "./tree.js";
import { assertRoom, type Caps } from "./upsert.js";

export type RootService = {
  /** Answers the root's id. */
  readonly attachRoot: (call: Call, request: { path: string }) => Promise<string>;
  readonly detachRoot: (call: Call, request: { rootId: string; allowMissing: boolean }) => Promise<void>;
};

export type RootOptions = Caps & {
  /** The workspace of calls that name none; a slug. */
  readonly defaultWorkspace: string;
};

function pathViolations(path: string) {
  const refused = (description: string) => [{ field: "path", description }];
  if (byteLength(path) > limits.targetBytes) return refused(`is over ${limits.targetBytes} bytes`);
  return isAbsolute(path) ? [] : refused("must be the absolute path of a folder on the daemon's machine");
}

export function createRootService(storage: RootStorage, tree: TreeReader, options: RootOptions): RootService {
  const scopeOf = createScopes(options.defaultWorkspace);
  return {
    async attachRoot(call, { path }) {
      assertRight(call.caller, "admin");
      const scope = scopeOf(call);
      assertNoPrecondition(call.ifUpdateTime);
      assertValid(pathViolations(path));
      const realPath = await tree.realFolder(path);
      if (realPath === undefined) throw rootUnusable();
      const rootId = rootIdFromPath(realPath);
      await storage.attachRoot(scope, { rootId, path: realPath }, (attached, room) => {
        assertRoom(room, options, false);
        assertRootRoom(attached);
      });
      return rootId;
    },

    async detachRoot(call, { rootId, allowMissing }) {
      assertRight(call.caller, "admin");
      const scope = scopeOf(call);
      assertNoPrecondition(call.ifUpdateTime);
      assertValid(rootIdViolations("root_id", rootId));
      const wasAttached = await storage.detachRoot(scope, rootId);
      if (!wasAttached && !allowMissing) throw rootNotFound();
    },
  };
}
