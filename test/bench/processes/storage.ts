/**
 * The storage's limit: the fewest statements that could do the work, on a table of their own, one after the
 * other, set up as durable as memoryd's own database.
 */
import { join } from "node:path";
import Database from "better-sqlite3";
import { runClosedLoop } from "../closed-loop.js";
import { type StorageJob, type StorageRates, type StorageWork, storageWork } from "../jobs.js";
import { answerJob } from "../processes.js";
import type { Rate } from "../statistics.js";
import {
  createMarks,
  createTurns,
  cursorText,
  fieldsOf,
  recordName,
  recordsPerWorkspace,
} from "../workload.js";

const batch = 64;

function openTable(folder: string) {
  const connection = new Database(join(folder, "raw.db"));
  for (const pragma of ["journal_mode = WAL", "synchronous = FULL", "wal_autocheckpoint = 250"])
    connection.pragma(pragma);
  connection.exec(`
    drop table if exists records;
    create table records (
      name text primary key, type integer not null, status text not null, body text not null,
      refs text not null, links text not null, updated_ms integer not null
    ) strict, without rowid;
    drop table if exists texts;
    create table texts (name text primary key, content text not null) strict, without rowid;
  `);
  const put = connection.prepare<[string, number, string, string, string, string, number]>(
    `insert into records values (?, ?, ?, ?, ?, ?, ?)
     on conflict (name) do update set
       type = excluded.type, status = excluded.status, body = excluded.body,
       refs = excluded.refs, links = excluded.links, updated_ms = excluded.updated_ms`,
  );
  const nextMark = createMarks();
  const nextIndex = createTurns(recordsPerWorkspace);
  let puts = 0;
  const putOne = (): void => {
    const index = nextIndex();
    puts += 1;
    const { type, status, body, refs, references } = fieldsOf(index, nextMark());
    put.run(recordName(index), type, status, body, JSON.stringify(refs), JSON.stringify(references), puts);
  };
  const putMany = connection.transaction((count: number) => {
    for (let done = 0; done < count; done += 1) putOne();
  });
  putMany.immediate(recordsPerWorkspace);
  connection.prepare("insert into texts values (?, ?)").run("cursor", cursorText);
  return { connection, putMany };
}

async function measure({ folder, warmUpMs, measureMs }: StorageJob): Promise<StorageRates> {
  const { connection, putMany } = openTable(folder);
  const page = connection.prepare<[string, number]>(
    "select * from records where name > ? order by name limit ?",
  );
  const text = connection.prepare<[string]>("select content from texts where name = ?").pluck();
  const readPage = (count: number) => (): void => {
    if (page.all("", count).length !== count) throw new Error("a page of records is not whole");
  };
  const work: Readonly<Record<StorageWork, () => void>> = {
    "one record written, one fsync": () => putMany.immediate(1),
    "64 records written, one fsync": () => putMany.immediate(batch),
    "100 records read": readPage(100),
    "10,000 records read": readPage(recordsPerWorkspace),
    "one text read": () => {
      if (text.get("cursor") !== cursorText) throw new Error("the text is not what was stored");
    },
  };
  const rates: Partial<Record<StorageWork, Rate>> = {};
  for (const name of storageWork)
    rates[name] = await runClosedLoop({ clients: 1, warmUpMs, measureMs, once: async () => work[name]() });
  connection.close();
  return rates as StorageRates;
}

await answerJob(measure);
