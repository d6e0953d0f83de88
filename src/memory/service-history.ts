/**
 * The use cases that read single records and their history, and bring earlier states back (memory.md M52–M56,
 * M60). Knows no wire and no engine.
 */
import { assertRight } from "../kernel/caller.js";
import { assertValid, type StoredRecord, slugViolations } from "./model.js";
import { type Call, createNearest, createScopes } from "./service-call.js";
import type { MemoryStorage } from "./storage.js";
import { recordNotFound, recordUnreadable } from "./upsert.js";

export type HistoryOptions = {
  /** The workspace of calls that name none; a slug. */
  readonly defaultWorkspace: string;
};

export type HistoryService = {
  readonly getRecord: (call: Call, request: { name: string }) => Promise<StoredRecord>;
};

export function createHistoryService(storage: MemoryStorage, options: HistoryOptions): HistoryService {
  const scopeOf = createScopes(options.defaultWorkspace);
  const withNearest = createNearest(storage);

  return {
    async getRecord(call, { name }) {
      assertRight(call.caller, "read");
      const scope = scopeOf(call);
      assertValid(slugViolations("name", name));
      const find = async (): Promise<StoredRecord> => {
        const stored = await storage.get(scope, name);
        if (stored === undefined) throw recordNotFound();
        if (!stored.readable) throw recordUnreadable();
        return stored;
      };
      return withNearest(scope, name, find());
    },
  };
}
