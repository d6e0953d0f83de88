/**
 * The tables of the memory domain (memory.md section 14), as append-only steps with the same ids on every
 * engine. A step that was released is never edited.
 *
 * `references` is a reserved word, hence `memory_links`. The partial index finds old deletions for the
 * hourly sweep without reading all revisions. A step is SQL alone, so records that are older than the index
 * wait in `memory_unindexed` until the storage has indexed them.
 */
import type { Migration } from "../db/migrate.js";

/** Kinds of revision; numbers are those that `memoryd.records.v1.ChangeKind` has. */
export const changeKinds = { created: 1, updated: 2, deleted: 3, restored: 4, imported: 5 } as const;

export const memoryMigrations: readonly Migration[] = [
  {
    id: "memory/0001-records",
    sqlite: `
      create table memory_workspaces (
        workspace text primary key,
        epoch text not null,
        position integer not null,
        trimmed_position integer not null,
        record_count integer not null,
        created_ms integer not null,
        changed_ms integer not null
      ) strict, without rowid;

      create table memory_records (
        rid integer primary key,
        workspace text not null references memory_workspaces,
        name text not null,
        type integer not null,
        status text not null,
        body text not null,
        created_ms integer not null,
        updated_ms integer not null,
        revision integer not null,
        writer_user text not null,
        writer_agent text not null,
        unique (workspace, name)
      ) strict;

      create table memory_refs (
        workspace text not null,
        name text not null,
        ordinal integer not null,
        kind integer not null,
        target text not null,
        primary key (workspace, name, ordinal),
        foreign key (workspace, name) references memory_records (workspace, name) on delete cascade
      ) strict, without rowid;

      create table memory_links (
        workspace text not null,
        name text not null,
        ordinal integer not null,
        linked_name text not null,
        primary key (workspace, name, ordinal),
        foreign key (workspace, name) references memory_records (workspace, name) on delete cascade
      ) strict, without rowid;

      create table memory_cursors (
        workspace text primary key references memory_workspaces,
        content text not null,
        updated_ms integer not null,
        revision integer not null,
        writer_user text not null,
        writer_agent text not null
      ) strict;

      create table memory_revisions (
        workspace text not null references memory_workspaces,
        revision integer not null,
        name text not null,
        kind integer not null,
        at_ms integer not null,
        writer_user text not null,
        writer_agent text not null,
        content text,
        primary key (workspace, revision)
      ) strict;
      create index memory_revisions_by_name on memory_revisions (workspace, name, revision desc);
      create index memory_revisions_deleted on memory_revisions (at_ms) where kind = 3;
    `,
  },
  {
    id: "memory/0002-roots",
    sqlite: `
      create table memory_roots (
        workspace text not null references memory_workspaces,
        daemon text not null,
        root_id text not null,
        path text not null,
        attached_ms integer not null,
        primary key (workspace, daemon, root_id)
      ) strict, without rowid;

      alter table memory_refs add column baseline_bytes integer;
      alter table memory_refs add column baseline_sha256 text;
    `,
  },
  {
    id: "memory/0003-extra",
    sqlite: "alter table memory_records add column extra text not null default '{}';",
  },
  {
    id: "memory/0004-search",
    sqlite: `
      create virtual table memory_search using fts5(
        name, targets, status, body, joined, stems, scope,
        content='', contentless_delete=1, tokenize="ascii tokenchars '+#'"
      );
      create trigger memory_records_gone after delete on memory_records begin
        delete from memory_search where rowid = old.rid;
      end;

      create table memory_unindexed (rid integer primary key) strict;
      insert into memory_unindexed select rid from memory_records;

      alter table memory_records add column status_key text not null default '';
      alter table memory_refs add column target_path text not null default '';
      create index memory_records_by_time on memory_records (workspace, updated_ms desc, name);
      create index memory_refs_by_path on memory_refs (workspace, target_path, name);
      create index memory_links_by_name on memory_links (workspace, linked_name, name);
    `,
  },
];
