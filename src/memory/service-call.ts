/**
 * What every use case of this domain begins with: who asks and in which workspace, the metadata as sent, and
 * how an absent name is told (memory.md section 2, M20e).
 */
import type { Caller } from "../kernel/caller.js";
import { invalidArgument, isMemorydError, MemorydError } from "../kernel/errors.js";
import { assertValid, slugViolations } from "./model.js";
import { nearestEdits, nearestNames } from "./nearest.js";
import { preconditionMetadata } from "./precondition.js";
import type { MemoryScope, MemoryStorage } from "./storage.js";

/** The names of the metadata that calls of this domain read. */
export const workspaceMetadata = "memoryd-workspace";
export const rootMetadata = "memoryd-root";

/** Who asks, and the request metadata as sent (section 2 of memory.md); absent members were not sent. */
export type Call = {
  readonly caller: Caller;
  readonly workspace?: string | undefined;
  readonly ifUpdateTime?: string | undefined;
  readonly root?: string | undefined;
};

/** Throws what section 2 answers to a precondition on a writing method that has none. */
export function assertNoPrecondition(ifUpdateTime: string | undefined): void {
  if (ifUpdateTime === undefined) return;
  throw invalidArgument([
    { field: preconditionMetadata, description: "is not for this method; leave it out" },
  ]);
}

/** Who asks and where, from a call; `defaultWorkspace` is the one of calls that name none. */
export const createScopes =
  (defaultWorkspace: string) =>
  ({ caller, workspace = defaultWorkspace }: Call): MemoryScope => {
    assertValid(slugViolations(workspaceMetadata, workspace));
    return { workspace, writer: { user: caller.user, agent: caller.agent ?? "" } };
  };

/** Turns a plain `not_found` of a name into one that shows the names that may have been meant. */
export const createNearest =
  (storage: MemoryStorage) =>
  async <T>(scope: MemoryScope, name: string, answer: Promise<T>): Promise<T> => {
    try {
      return await answer;
    } catch (error) {
      if (!isMemorydError(error) || error.reason !== "RECORD_NOT_FOUND") throw error;
      const names = await storage.namesOfLength(
        scope,
        name.length - nearestEdits,
        name.length + nearestEdits,
      );
      const nearest = nearestNames(name, names);
      if (nearest.length === 0) throw error;
      const { code, message, reason } = error;
      throw new MemorydError(code, message, { reason, metadata: { nearest: nearest.join(",") } });
    }
  };
