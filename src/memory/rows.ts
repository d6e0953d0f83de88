/**
 * Rows of the tables <-> values of the model, the same for every engine. A row whose numbers are unknown or
 * that has no refs does not read as a record (memory.md M33): it becomes unreadable, never an error.
 */
import { noExtra } from "./extra.js";
import {
  isRecordType,
  isRefKind,
  type RecordFields,
  type Ref,
  type RefKind,
  type StoredCursor,
  type Writer,
} from "./model.js";
import type { Stored } from "./upsert.js";

export type RecordRow = {
  readonly name: string;
  readonly type: number;
  readonly status: string;
  readonly body: string;
  readonly extra: string;
  readonly created_ms: number;
  readonly updated_ms: number;
  readonly revision: number;
  readonly writer_user: string;
  readonly writer_agent: string;
};

export type RefRow = {
  readonly name: string;
  readonly kind: number;
  readonly target: string;
  readonly baseline_bytes: number | null;
  readonly baseline_sha256: string | null;
};
export type LinkRow = { readonly name: string; readonly linked_name: string };

export type CursorRow = {
  readonly content: string;
  readonly updated_ms: number;
  readonly revision: number;
  readonly writer_user: string;
  readonly writer_agent: string;
};

type WriterColumns = { readonly writer_user: string; readonly writer_agent: string };

const writerFromRow = (row: WriterColumns): Writer => ({ user: row.writer_user, agent: row.writer_agent });

function refFromRow(row: RefRow, kind: RefKind): Ref {
  const { target, baseline_bytes: bytes, baseline_sha256: sha256 } = row;
  return bytes === null
    ? { kind, target }
    : { kind, target, baseline: { bytes, sha256: sha256 ?? undefined } };
}

/** The record of a row and of its refs and links, both in order. */
export function storedFromRow(row: RecordRow, refs: readonly RefRow[], links: readonly LinkRow[]): Stored {
  const facts = {
    name: row.name,
    createdMs: row.created_ms,
    extra: row.extra,
    updatedMs: row.updated_ms,
    revision: row.revision,
    writer: writerFromRow(row),
  };
  const known: Ref[] = [];
  for (const ref of refs) if (isRefKind(ref.kind)) known.push(refFromRow(ref, ref.kind));
  if (!isRecordType(row.type) || known.length === 0 || known.length < refs.length) {
    return { readable: false, ...facts };
  }
  return {
    readable: true,
    ...facts,
    type: row.type,
    refs: known,
    status: row.status,
    body: row.body,
    references: links.map((link) => link.linked_name),
  };
}

/** Hands out the rows of one name after the other, from rows that are ordered by name; skips names not asked for. */
export function createGroups<Row extends { readonly name: string }>(
  rows: Iterator<Row>,
  isBefore: (a: string, b: string) => boolean,
): (name: string) => Row[] {
  let next = rows.next();
  return (name) => {
    const group: Row[] = [];
    while (next.done !== true && !isBefore(name, next.value.name)) {
      if (next.value.name === name) group.push(next.value);
      next = rows.next();
    }
    return group;
  };
}

export const cursorFromRow = (row: CursorRow): StoredCursor => ({
  content: row.content,
  updatedMs: row.updated_ms,
  revision: row.revision,
  writer: writerFromRow(row),
});

/** The content of a record's revision: all that a restore needs, the baselines of refs among it (M74). */
export const recordContent = (fields: RecordFields, createdMs: number, extra: string): string =>
  JSON.stringify({
    type: fields.type,
    refs: fields.refs,
    status: fields.status,
    body: fields.body,
    references: fields.references,
    created_ms: createdMs,
    ...(extra === noExtra ? {} : { extra }),
  });

/** The content of a cursor's revision. */
export const cursorContent = (content: string): string => JSON.stringify({ content });
