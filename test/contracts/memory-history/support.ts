/** What the parts of this contract share: whole histories and restores in short. */
import type { RecordFields } from "../../../src/memory/model.js";
import type { CursorRevision, RecordRevision, Restorable } from "../../../src/memory/revision.js";
import type { MemoryScope, MemoryStorage } from "../../../src/memory/storage.js";
import type { RevisionPage } from "../../../src/memory/storage-history.js";
import type { Decision } from "../../../src/memory/upsert.js";
import { scope } from "../memory-storage/support.js";

/** The revisions of a page of at most so many; `undefined` when none of the name is kept. */
export async function revisionsOf(
  storage: MemoryStorage,
  name: string,
  { before, most = Number.POSITIVE_INFINITY }: { before?: number | undefined; most?: number } = {},
  from: MemoryScope = scope,
): Promise<(RevisionPage & { readonly revisions: RecordRevision[] }) | undefined> {
  const revisions: RecordRevision[] = [];
  const take = (revision: RecordRevision): boolean => revisions.length < most && revisions.push(revision) > 0;
  const page = await storage.listRevisions(from, name, { before, take });
  return page === undefined ? undefined : { ...page, revisions };
}

/** All kept values of the cursor. */
export async function cursorsOf(
  storage: MemoryStorage,
  from: MemoryScope = scope,
): Promise<CursorRevision[]> {
  const cursors: CursorRevision[] = [];
  await storage.listCursorRevisions(from, {
    before: undefined,
    take: (cursor) => cursors.push(cursor) > 0,
  });
  return cursors;
}

/** Brings back what is found, as a restore does. */
export function restoring(found: Restorable): Decision<RecordFields> {
  const { record } = found.revision ?? {};
  if (record === undefined) return { kind: "keep" };
  const { type, refs, status, body, references, createdMs, extra } = record;
  const fields = { type, refs, status, body, references };
  return { kind: "put", fields, origin: { change: "restored", createdMs, extra } };
}

/** What a restore of that revision finds. */
export async function foundBy(storage: MemoryStorage, name: string, revision: number): Promise<Restorable> {
  const seen: Restorable[] = [];
  await storage.restore(scope, name, revision, (found) => {
    seen.push(found);
    return { kind: "keep" };
  });
  return seen[0] ?? { isKnown: false, revision: undefined };
}
