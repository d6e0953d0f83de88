/** What the parts of the contract share: a clock that is set, scopes, decisions and the collecting of lists. */
import { expect } from "vitest";
import type { RecordFields, StoredCursor, StoredRecord } from "../../../src/memory/model.js";
import type { MemoryScope, MemoryStorage, Page } from "../../../src/memory/storage.js";
import type { Decision, Stored } from "../../../src/memory/upsert.js";
import { decisionFields } from "../../memory/records.js";
import type { OpenedStorage, OpenStorage } from "../memory-storage.js";

export const startMs = Date.parse("2026-03-04T05:06:07.089Z");

export type Opened = OpenedStorage & { readonly setClock: (atMs: number) => void };

/** An empty storage whose clock stands until it is set. */
export async function opened(open: OpenStorage, revisionsPerRecord = 100): Promise<Opened> {
  let nowMs = startMs;
  const clock = { nowMs: () => nowMs };
  const setClock = (atMs: number): void => {
    nowMs = atMs;
  };
  return { ...(await open({ clock, revisionsPerRecord })), setClock };
}

export const scopeOf = (workspace: string, user = "tester", agent = ""): MemoryScope => ({
  workspace,
  writer: { user, agent },
});
export const scope = scopeOf("here");

export const putting =
  (changes: Partial<RecordFields> = {}) =>
  (): Decision<RecordFields> => ({
    kind: "put",
    fields: decisionFields(changes),
  });
export const deleting = (): Decision<RecordFields> => ({ kind: "delete" });
export const keeping = (): Decision<never> => ({ kind: "keep" });
export const writing = (content: string) => (): Decision<string> => ({ kind: "put", fields: content });

export const readable = (stored: Stored | undefined): StoredRecord =>
  stored?.readable === true ? stored : expect.fail("no readable record is stored");

export const put = async (
  storage: MemoryStorage,
  name: string,
  changes: Partial<RecordFields> = {},
  into: MemoryScope = scope,
): Promise<StoredRecord> => readable(await storage.change(into, name, putting(changes)));

export const remove = (storage: MemoryStorage, name: string, from: MemoryScope = scope) =>
  storage.change(from, name, deleting);

export const write = async (
  storage: MemoryStorage,
  content: string,
  into: MemoryScope = scope,
): Promise<StoredCursor> =>
  (await storage.changeCursor(into, writing(content))) ?? expect.fail("no cursor is stored");

export type ListedPage = Page & { readonly records: readonly StoredRecord[] };

/** A page of at most so many records. */
export async function listed(
  storage: MemoryStorage,
  after?: string,
  most = Number.POSITIVE_INFINITY,
  from: MemoryScope = scope,
): Promise<ListedPage> {
  const records: StoredRecord[] = [];
  const take = (record: StoredRecord): boolean => records.length < most && records.push(record) > 0;
  return { records, ...(await storage.list(from, { after, take })) };
}

export const namesOf = async (storage: MemoryStorage, from: MemoryScope = scope): Promise<string[]> =>
  (await listed(storage, undefined, undefined, from)).records.map(({ name }) => name);
