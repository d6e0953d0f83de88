/**
 * SearchRecords beside a scan with `like` of the same database, at several sizes. Both answer twenty records
 * without their bodies and how many there are in all.
 */
import { join } from "node:path";
import Database from "better-sqlite3";
import { runClosedLoop } from "../closed-loop.js";
import { type RecordsJob, type SearchComparison, searches } from "../jobs.js";
import { say } from "../output.js";
import { best, type Rate } from "../statistics.js";
import { recordName } from "../workload.js";
import { assertEqual, callOf, openRecords, type Records } from "./opened.js";

type Search = SearchComparison["search"];

const pageSize = 20;
const writtenAtOnce = 500;
const words: Readonly<Record<Search, string>> = {
  "a rare word": "zeppelin",
  "a common word": "harbour",
  "a two-word name": "amber-otter",
};
const nameIndex = 17;
const rareIndex = 42;

const isCommon = (index: number): boolean => index % 2 === 0;

const expectedOf = (search: Search, records: number): number =>
  search === "a common word" ? records / 2 : 1;

/** About 250 bytes of words that repeat over the records like those of a language: few often, many seldom. */
function bodyOf(index: number): string {
  const body = Array.from({ length: 32 }, (_, at) => {
    const turn = (index * 7_919 + at * 104_729) % 10_007;
    return `term${Math.floor(turn ** 2 / 100_000)}`;
  });
  if (isCommon(index)) body.push(words["a common word"]);
  if (index === rareIndex) body.push(words["a rare word"]);
  // The words of the name stand apart elsewhere, so that only both together tell.
  if (index % 50 === 3) body.push("amber");
  if (index % 50 === 4) body.push("otter");
  return body.join(" ");
}

async function fill({ storage }: Records, records: number): Promise<void> {
  const scope = { workspace: "bench", writer: { user: "bench", agent: "" } };
  const write = (index: number) =>
    storage.change(scope, index === nameIndex ? words["a two-word name"] : recordName(index), () => ({
      kind: "put",
      fields: {
        type: 2,
        refs: [{ kind: 5, target: `docs/part-${index}.md` }],
        status: "accepted",
        body: bodyOf(index),
        references: [],
      },
    }));
  for (let from = 0; from < records; from += writtenAtOnce) {
    const count = Math.min(writtenAtOnce, records - from);
    await Promise.all(Array.from({ length: count }, (_, at) => write(from + at)));
  }
}

function openScan(file: string) {
  const connection = new Database(file, { readonly: true });
  const scan = connection.prepare<[string, string, string, number], { total: number }>(`
    select name, type, status, updated_ms, count(*) over () as total from memory_records as records
    where body like ? or name like ? or exists (
      select 1 from memory_refs as refs
      where refs.workspace = records.workspace and refs.name = records.name and refs.target like ?
    )
    order by updated_ms desc limit ?`);
  return {
    count: (word: string): number => {
      const like = `%${word}%`;
      return scan.all(like, like, like, pageSize)[0]?.total ?? 0;
    },
    close: () => connection.close(),
  };
}

async function openCell(folder: string, records: number) {
  const file = join(folder, `search-${records}.db`);
  say(`filling a database with ${records.toLocaleString("en-US")} records`);
  const opened = await openRecords(file);
  await fill(opened, records);
  const scan = openScan(file);
  const request = {
    pageSize,
    pageToken: "",
    view: 0,
    explain: false,
    checkRefs: false,
    types: [],
    statuses: [],
    refKinds: [],
    refTarget: "",
    referencedName: "",
  };
  return {
    async search(search: Search): Promise<void> {
      const { hits, totalSize } = await opened.search.searchRecords(callOf("bench"), {
        ...request,
        query: words[search],
      });
      if (search === "a two-word name") assertEqual("the first hit", hits[0]?.record.name, words[search]);
      else assertEqual(`hits of ${search}`, totalSize, expectedOf(search, records));
    },
    async scan(search: Search): Promise<void> {
      assertEqual(`rows of ${search}`, scan.count(words[search]), expectedOf(search, records));
    },
    async close(): Promise<void> {
      scan.close();
      await opened.close();
    },
  };
}

export async function compareSearches(job: RecordsJob): Promise<readonly SearchComparison[]> {
  const { folder, rounds, warmUpMs, measureMs, searchSizes } = job;
  const cells: (Awaited<ReturnType<typeof openCell>> & { readonly records: number })[] = [];
  for (const records of searchSizes) cells.push({ records, ...(await openCell(folder, records)) });
  const measure = (once: () => Promise<void>): Promise<Rate> =>
    runClosedLoop({ clients: 1, warmUpMs, measureMs, once });
  const found = searches.flatMap((search) =>
    cells.map((cell) => ({ search, cell, searched: [] as Rate[], scanned: [] as Rate[] })),
  );
  for (let round = 0; round < rounds; round += 1) {
    for (const { search, cell, searched, scanned } of found) {
      say(`round ${round + 1} of ${rounds}: ${search} in ${cell.records.toLocaleString("en-US")} records`);
      searched.push(await measure(() => cell.search(search)));
      scanned.push(await measure(() => cell.scan(search)));
    }
  }
  for (const cell of cells) await cell.close();
  return found.map(({ search, cell, searched, scanned }) => ({
    search,
    records: cell.records,
    searched: best(searched),
    scanned: best(scanned),
  }));
}
