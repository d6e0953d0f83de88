/** The SQL of the memory storage on SQLite, prepared once a connection. Names sort by their UTF-8 bytes. */
import type { Connection } from "../db/sqlite/open.js";

/** Bytes of chance in the epoch of a workspace, given at its birth. */
export const epochBytes = 16;

const recordColumns =
  "name, type, status, body, extra, created_ms, updated_ms, revision, writer_user, writer_agent";

const refColumns = "name, kind, target, baseline_bytes, baseline_sha256";

/** What this storage uses of a statement; parameters are positional, or one object of named ones. */
export type PreparedStatement = {
  readonly get: (...parameters: unknown[]) => unknown;
  readonly all: (...parameters: unknown[]) => unknown[];
  readonly run: (...parameters: unknown[]) => unknown;
  readonly iterate: (...parameters: unknown[]) => IterableIterator<unknown>;
  readonly pluck: () => PreparedStatement;
};

export type Statements = ReturnType<typeof prepareStatements>;

export function prepareStatements(connection: Connection) {
  const prepare = (sql: string): PreparedStatement => connection.prepare<unknown[]>(sql);
  return {
    workspace: prepare(
      "select position, trimmed_position, record_count, changed_ms from memory_workspaces where workspace = ?",
    ),
    workspaceCount: prepare("select count(*) from memory_workspaces").pluck(),
    takePosition: prepare(
      `insert into memory_workspaces (workspace, epoch, position, trimmed_position, record_count, created_ms, changed_ms)
       values (@workspace, @epoch, 1, 0, @added, @at, @at)
       on conflict (workspace) do update set
         position = position + 1,
         record_count = record_count + @added,
         changed_ms = max(changed_ms, @at)
       returning position`,
    ).pluck(),
    record: prepare(`select ${recordColumns} from memory_records where workspace = ? and name = ?`),
    recordsAfter: prepare(
      `select ${recordColumns} from memory_records where workspace = ? and name > ? order by name`,
    ),
    putRecord: prepare(
      `insert into memory_records (workspace, ${recordColumns}, status_key)
       values (@workspace, @name, @type, @status, @body, @extra, @created, @updated, @revision, @user, @agent,
         @statusKey)
       on conflict (workspace, name) do update set
         type = @type, status = @status, body = @body, extra = @extra, updated_ms = @updated, revision = @revision,
         writer_user = @user, writer_agent = @agent, status_key = @statusKey
       returning rid`,
    ).pluck(),
    dropRecord: prepare("delete from memory_records where workspace = ? and name = ?"),
    namesOfLength: prepare(
      "select name from memory_records where workspace = ? and length(name) between ? and ?",
    ).pluck(),
    refs: prepare(`select ${refColumns} from memory_refs where workspace = ? and name = ? order by ordinal`),
    refsAfter: prepare(
      `select ${refColumns} from memory_refs
       where workspace = ? and name > ? order by name, ordinal`,
    ),
    addRef: prepare(
      `insert into memory_refs (workspace, ordinal, ${refColumns}, target_path)
       values (@workspace, @ordinal, @name, @kind, @target, @bytes, @sha256, @path)`,
    ),
    dropRefs: prepare("delete from memory_refs where workspace = ? and name = ?"),
    links: prepare(
      "select name, linked_name from memory_links where workspace = ? and name = ? order by ordinal",
    ),
    linksAfter: prepare(
      `select name, linked_name from memory_links
       where workspace = ? and name > ? order by name, ordinal`,
    ),
    addLink: prepare("insert into memory_links (workspace, name, ordinal, linked_name) values (?, ?, ?, ?)"),
    dropLinks: prepare("delete from memory_links where workspace = ? and name = ?"),
    cursor: prepare(
      "select content, updated_ms, revision, writer_user, writer_agent from memory_cursors where workspace = ?",
    ),
    putCursor: prepare(
      `insert into memory_cursors (workspace, content, updated_ms, revision, writer_user, writer_agent)
       values (?, ?, ?, ?, ?, ?)
       on conflict (workspace) do update set
         content = excluded.content, updated_ms = excluded.updated_ms, revision = excluded.revision,
         writer_user = excluded.writer_user, writer_agent = excluded.writer_agent`,
    ),
    newestTime: prepare(
      "select at_ms from memory_revisions where workspace = ? and name = ? order by revision desc limit 1",
    ).pluck(),
    addRevision: prepare(
      `insert into memory_revisions (workspace, revision, name, kind, at_ms, writer_user, writer_agent, content)
       values (?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    trimRevisions: prepare(
      `delete from memory_revisions where workspace = @workspace and name = @name and revision <= (
         select revision from memory_revisions where workspace = @workspace and name = @name
         order by revision desc limit 1 offset @keep)`,
    ),
    longDeleted: prepare(
      `select workspace, name, revision from memory_revisions as deletion
       where kind = 3 and at_ms < ? and not exists (
         select 1 from memory_revisions as later
         where later.workspace = deletion.workspace and later.name = deletion.name
           and later.revision > deletion.revision)
       limit ?`,
    ),
    dropRevisions: prepare(
      `delete from memory_revisions where workspace = @workspace and name = @name and revision in (
         select revision from memory_revisions where workspace = @workspace and name = @name
         order by revision limit @most)`,
    ),
    noteTrimmed: prepare(
      `update memory_workspaces set trimmed_position = max(trimmed_position, @revision)
       where workspace = @workspace`,
    ),
    counts: prepare(
      `select count(*) as workspaces, coalesce(sum(record_count), 0) as records from memory_workspaces`,
    ),
  };
}
