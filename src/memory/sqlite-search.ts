/**
 * The search index on SQLite: an FTS5 table without content, a row a record, written in the record's own
 * transaction (recall.md R100–R102), and the queries on it. What a row holds is made by `src/text`; the index
 * splits at spaces and parses nothing. A deleted record's row goes by a trigger.
 *
 * A page is one statement: the matching records with their ranks, then their number and the page of them.
 * The scope column lets the index meet a workspace with the terms; that costs more than it saves while terms
 * are rare, so it is asked for from some matches on. It weighs nothing, and the plain column decides.
 */
import { createHash } from "node:crypto";
import type { SqliteDatabase } from "../db/sqlite/database.js";
import type { Connection } from "../db/sqlite/open.js";
import type { Parameters, Query } from "../db/sqlite/reader-thread.js";
import { createStatements } from "../db/sqlite/statements.js";
import { fts5FromTerm, fts5FromTerms, fts5RowFromTokens } from "../text/fts5.js";
import type { Term } from "../text/term.js";
import type { StoredRecord } from "./model.js";
import { pathFromRef } from "./refs-path.js";
import { searchFields, searchWeights, type TermFacts, tokensFromRecord } from "./search-text.js";
import type { RecordReader } from "./sqlite-files.js";
import type { PreparedStatement } from "./sqlite-statements.js";
import type { SearchFilters, SearchPlace, SearchRequest, SearchStorage } from "./storage-search.js";
import { caseFolded } from "./text.js";

/** From so many matches of the terms alone on, the workspace is asked of the index as well. */
const scopeFromMatches = 2_001;
/** One part of indexing what was there before; either is some milliseconds. */
const restRows = 50;
const restMs = 5;
/** Pages of the index that one step of a merge writes. */
const mergePages = 64;

const scopeCharacters = 16;
const scopeToken = (workspace: string): string =>
  `w${createHash("sha256").update(workspace, "utf8").digest("hex").slice(0, scopeCharacters)}`;

const rank = `bm25(memory_search, ${[...searchWeights, 0].join(", ")})`;

function prepareSearch(connection: Connection) {
  const prepare = (sql: string): PreparedStatement => connection.prepare<unknown[]>(sql);
  return {
    // A number is bound as a real, which beside an index of integers would be no condition at all.
    drop: prepare("delete from memory_search where rowid = cast(? as integer)"),
    add: prepare(
      `insert into memory_search (rowid, name, targets, status, body, joined, stems, scope)
       values (cast(@rid as integer), @name, @targets, @status, @body, @joined, @stems, @scope)`,
    ),
    rest: prepare(
      `select queue.rid, workspace, name from memory_unindexed as queue
       left join memory_records as records on records.rid = queue.rid limit ?`,
    ),
    dropRest: prepare("delete from memory_unindexed where rid = ?"),
    putStatusKey: prepare("update memory_records set status_key = ? where rid = ?"),
    putPath: prepare(
      "update memory_refs set target_path = ? where workspace = ? and name = ? and ordinal = ?",
    ),
    changes: prepare("select total_changes()").pluck(),
    merge: prepare("insert into memory_search (memory_search, rank) values ('merge', cast(? as integer))"),
  };
}

type RestRow = { readonly rid: number; readonly workspace: string | null; readonly name: string | null };

export type SqliteSearch = SearchStorage & {
  /** Puts a record's text into the index in place of what was there; inside the job that writes the record. */
  readonly indexRecord: (workspace: string, rid: number, record: StoredRecord) => void;
  /** Takes the words of deleted and overwritten texts out of the index, in steps that let others write. */
  readonly mergeIndex: () => Promise<void>;
};

export function createSqliteSearch(database: SqliteDatabase, recordOn: RecordReader): SqliteSearch {
  const statementsOf = createStatements(prepareSearch);
  const own = () => statementsOf(database.connection);

  const indexRecord: SqliteSearch["indexRecord"] = (workspace, rid, record) => {
    own().drop.run(rid);
    own().add.run({ rid, scope: scopeToken(workspace), ...fts5RowFromTokens(tokensFromRecord(record)) });
  };

  /** Indexes a row of the first days, when a record was kept without what a search needs. */
  const indexOld = (rid: number, workspace: string, name: string): void => {
    const record = recordOn(database.connection, workspace, name);
    // A row that does not read as a record is no hit, and is indexed by the write that repairs it.
    if (record?.readable !== true) return;
    own().putStatusKey.run(caseFolded(record.status), rid);
    for (const [ordinal, ref] of record.refs.entries()) {
      own().putPath.run(pathFromRef(ref), workspace, name, ordinal);
    }
    indexRecord(workspace, rid, record);
  };

  const indexPart = (): number => {
    const startMs = performance.now();
    let count = 0;
    for (const { rid, workspace, name } of own().rest.all(restRows) as RestRow[]) {
      if (workspace !== null && name !== null) indexOld(rid, workspace, name);
      own().dropRest.run(rid);
      count += 1;
      if (performance.now() - startMs > restMs) break;
    }
    return count;
  };

  const indexAll = async (): Promise<number> => {
    for (let sum = 0; ; ) {
      const isDone = own().rest.get(1) === undefined;
      if (isDone) return sum;
      sum += await database.write(indexPart);
    }
  };

  let indexing: Promise<number> | undefined;
  const indexRest = (): Promise<number> => {
    indexing ??= indexAll().catch((error: unknown) => {
      indexing = undefined;
      throw error;
    });
    return indexing;
  };

  return {
    indexRecord,
    indexRest,

    async mergeIndex() {
      // A negative number begins a merge of everything, and further steps go on with it.
      for (let pages = -mergePages; ; pages = mergePages) {
        const changes = await database.write(() => {
          const before = own().changes.get() as number;
          own().merge.run(pages);
          return (own().changes.get() as number) - before;
        });
        if (changes < 2) return;
      }
    },

    async search({ workspace }, request) {
      await indexRest();
      return database.readAside((query) => searchWith(query, workspace, request));
    },
  };
}

type FoundRow = {
  readonly rid: number;
  readonly name: string;
  readonly revision: number;
  readonly updated_ms: number;
  readonly rank: number;
  readonly total: number;
};

const refOfRecord = "refs.workspace = r.workspace and refs.name = r.name";

/** A row that reads as a record (M33). */
const isReadable = `r.type between 1 and 3
  and (select min(kind) >= 1 and max(kind) <= 5 from memory_refs as refs where ${refOfRecord})`;

type Conditions = { readonly sql: string; readonly parameters: Parameters };

function conditionsFrom({ types, statuses, refKinds, target, referencedName }: SearchFilters): Conditions {
  const sql: string[] = [];
  const parameters: Record<string, string> = {};
  const among = (column: string, name: string, values: readonly unknown[]): string => {
    parameters[name] = JSON.stringify(values);
    return `${column} in (select value from json_each(@${name}))`;
  };
  if (types.length > 0) sql.push(among("r.type", "types", types));
  if (statuses.length > 0) sql.push(among("r.status_key", "statuses", statuses));
  if (refKinds.length > 0) {
    const hasKind = among("refs.kind", "kinds", refKinds);
    sql.push(`exists (select 1 from memory_refs as refs where ${refOfRecord} and ${hasKind})`);
  }
  if (target !== undefined) {
    const pointing = "r.name in (select refs.name from memory_refs as refs where refs.workspace = @workspace";
    if (target.kind === "below") {
      Object.assign(parameters, { from: target.from, to: target.to });
      sql.push(`${pointing} and refs.target_path >= @from and refs.target_path < @to)`);
    } else {
      parameters.path = target.path;
      const isTarget =
        target.targets === undefined ? "" : ` and ${among("refs.target", "targets", target.targets)}`;
      sql.push(`${pointing} and refs.target_path = @path${isTarget})`);
    }
  }
  if (referencedName !== undefined) {
    parameters.linked = referencedName;
    sql.push(
      "r.name in (select links.name from memory_links as links where links.workspace = @workspace and links.linked_name = @linked)",
    );
  }
  return { sql: sql.map((condition) => ` and ${condition}`).join(""), parameters };
}

const scoped = (match: string, workspace: string): string =>
  `${match} AND {scope} : "${scopeToken(workspace)}"`;

/** The matching records as a table `found`. */
function foundSql(hasTerms: boolean, conditions: string): string {
  const ofWorkspace = `r.workspace = @workspace and go_on() and ${isReadable}${conditions}`;
  if (!hasTerms) {
    return `with found as materialized (
      select r.rid, r.name, r.revision, r.updated_ms, 0 as rank from memory_records as r where ${ofWorkspace})`;
  }
  // The cross join keeps the index in front: its terms are rarer than the records of a workspace.
  return `with found as materialized (
    select r.rid, r.name, r.revision, r.updated_ms, ${rank} as rank
    from memory_search cross join memory_records as r
    where memory_search match case
        when (select count(*) from (select 1 from memory_search where memory_search match @terms
          limit ${scopeFromMatches})) = ${scopeFromMatches} then @scoped
        else @terms end
      and r.rid = memory_search.rowid and ${ofWorkspace})`;
}

const placeSql = (place: SearchPlace): string =>
  "skip" in place ? "" : "where updated_ms < @afterMs or (updated_ms = @afterMs and name > @afterName)";

const placeParameters = (place: SearchPlace): Parameters =>
  "skip" in place ? { skip: place.skip } : { skip: 0, afterMs: place.updatedMs, afterName: place.name };

async function searchWith(query: Query, workspace: string, request: SearchRequest) {
  const { terms, filters, place, limit, explain } = request;
  const conditions = conditionsFrom(filters);
  const match = terms.length === 0 ? "" : fts5FromTerms(terms, searchFields, "any");
  const found = foundSql(terms.length > 0, conditions.sql);
  const parameters = {
    workspace,
    ...conditions.parameters,
    ...(match === "" ? {} : { terms: match, scoped: scoped(match, workspace) }),
  };
  const rows = (await query(
    `${found} select rid, name, revision, updated_ms, rank, (select count(*) from found) as total
     from found ${placeSql(place)} order by rank, updated_ms desc, name limit @limit offset @skip`,
    { ...parameters, ...placeParameters(place), limit: limit + 1 },
  )) as readonly FoundRow[];
  // A page behind the last hit has no row that could tell.
  const [counted] =
    rows.length > 0 ? rows : await query(`${found} select count(*) as total from found`, parameters);
  const shown = rows.slice(0, limit);
  return {
    hits: shown.map(({ name, revision, updated_ms, rank: lowest }) => ({
      name,
      revision,
      updatedMs: updated_ms,
      score: 0 - lowest,
    })),
    hasMore: rows.length > limit,
    totalCount: Number(counted?.total ?? 0),
    facts: explain ? await factsWith(query, workspace, terms, shown) : undefined,
  };
}

/** What the index knows of the terms one by one; a hit's rank is the sum of what its terms give. */
async function factsWith(
  query: Query,
  workspace: string,
  terms: readonly Term[],
  shown: readonly FoundRow[],
) {
  const nameByRid = new Map(shown.map(({ rid, name }) => [rid, name]));
  const rids = JSON.stringify([...nameByRid.keys()]);
  const [row] = await query("select record_count from memory_workspaces where workspace = @workspace", {
    workspace,
  });
  const facts: TermFacts[] = [];
  for (const term of terms) {
    const match = fts5FromTerm(term, searchFields);
    const [counted] = await query(
      "select count(*) as records from memory_search where memory_search match @match and go_on()",
      { match: scoped(match, workspace) },
    );
    // The plus keeps the rowids from leading: the index would be opened anew for each.
    const ranked = await query(
      `select rowid as rid, ${rank} as rank from memory_search
       where memory_search match @match and +rowid in (select value from json_each(@rids)) and go_on()`,
      { match, rids },
    );
    facts.push({
      recordCount: Number(counted?.records ?? 0),
      scores: new Map(
        ranked.map((of) => [nameByRid.get(Number(of.rid)) ?? "", 0 - Number(of.rank)] as const),
      ),
    });
  }
  return { recordCount: Number(row?.record_count ?? 0), terms: facts };
}
