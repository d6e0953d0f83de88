/**
 * Rows of `memory_revisions` -> kept states, the same for every engine. Content is JSON that `rows.ts` wrote;
 * a row without any is a deletion or was redacted, and content that no longer reads as a record is no error.
 */
import { noExtra } from "./extra.js";
import { isRecordType, isRefKind, type StoredRecord } from "./model.js";
import type { CursorRevision, RecordRevision } from "./revision.js";
import { changeKinds } from "./schema.js";

export type RevisionRow = {
  readonly revision: number;
  readonly name: string;
  readonly kind: number;
  readonly at_ms: number;
  readonly writer_user: string;
  readonly writer_agent: string;
  readonly content: string | null;
};

type Content = Pick<StoredRecord, "type" | "refs" | "status" | "body" | "references"> & {
  readonly created_ms: number;
  readonly extra?: string;
};

const isRedacted = ({ kind, content }: RevisionRow): boolean =>
  content === null && kind !== changeKinds.deleted;

const factsOf = (row: RevisionRow) => ({
  revision: row.revision,
  writer: { user: row.writer_user, agent: row.writer_agent },
});

function recordOf(row: RevisionRow): StoredRecord | undefined {
  if (row.content === null) return undefined;
  const { created_ms: createdMs, extra = noExtra, ...fields } = JSON.parse(row.content) as Content;
  const { type, refs } = fields;
  if (!isRecordType(type) || refs.length === 0 || !refs.every(({ kind }) => isRefKind(kind))) {
    return undefined;
  }
  return {
    readable: true,
    name: row.name,
    ...fields,
    extra,
    createdMs,
    updatedMs: row.at_ms,
    ...factsOf(row),
  };
}

export const recordRevisionFromRow = (row: RevisionRow): RecordRevision => ({
  ...factsOf(row),
  kind: row.kind,
  atMs: row.at_ms,
  record: recordOf(row),
  isRedacted: isRedacted(row),
});

export function cursorRevisionFromRow(row: RevisionRow): CursorRevision {
  const { content } = row.content === null ? { content: "" } : (JSON.parse(row.content) as CursorRevision);
  return { ...factsOf(row), content, updatedMs: row.at_ms, isRedacted: isRedacted(row) };
}
