/**
 * The same durable writes by group commit and by one transaction and one fsync each. Every write changes what
 * is stored: one that does not dirties no page, syncs nothing and so looks fast.
 */
import { join } from "node:path";
import type { SqliteDatabase } from "../../../src/db/sqlite/database.js";
import {
  loadClock,
  loadDatabase,
  loadLog,
  loadMemorySchema,
  loadMemoryStorage,
  loadVersion,
} from "../built.js";
import { runClosedLoop } from "../closed-loop.js";
import {
  type Comparison,
  type GroupCommitAnswer,
  type GroupCommitJob,
  type Subject,
  subjects,
} from "../jobs.js";
import { measureFsync } from "../machine.js";
import { say } from "../output.js";
import { answerJob } from "../processes.js";
import { best, type Rate } from "../statistics.js";
import { createMarks, createTurns, fieldsOf, recordName, writtenNames } from "../workload.js";

type Write = SqliteDatabase["write"];
type Writing = () => Promise<unknown>;

/** A writer as one would write it first: each job in a transaction of its own. */
function createLoneWriter({ connection }: SqliteDatabase): Write {
  const inTransaction = connection.transaction((job: () => unknown) => job());
  return <T>(job: () => T) =>
    new Promise<T>((resolve, reject) => {
      setImmediate(() => {
        try {
          resolve(inTransaction.immediate(job) as T);
        } catch (error) {
          reject(error);
        }
      });
    });
}

const rowStep = {
  id: "bench/0001-rows",
  sqlite: "create table bench_rows (name text primary key, content text not null) strict, without rowid",
};

const nextMark = createMarks();
const nextIndex = createTurns(writtenNames);

function rowWriting(database: SqliteDatabase, write: Write): Writing {
  const put = database.connection.prepare<[string, string]>(
    "insert into bench_rows values (?, ?) on conflict (name) do update set content = excluded.content",
  );
  const filling = "x".repeat(280);
  return () => {
    const name = recordName(nextIndex());
    const content = `${nextMark()} ${filling}`;
    return write(() => void put.run(name, content));
  };
}

async function recordWriting(database: SqliteDatabase, write: Write): Promise<Writing> {
  const { createSqliteMemoryStorage } = await loadMemoryStorage();
  const { systemClock } = await loadClock();
  const storage = createSqliteMemoryStorage({ ...database, write }, { revisionsPerRecord: 100 }, systemClock);
  const scope = { workspace: "bench", writer: { user: "bench", agent: "" } };
  return () => {
    const index = nextIndex();
    const fields = fieldsOf(index, nextMark());
    return storage.change(scope, recordName(index), () => ({ kind: "put", fields }));
  };
}

async function openFor(subject: Subject, folder: string): Promise<SqliteDatabase> {
  const { openSqliteDatabase } = await loadDatabase();
  return openSqliteDatabase({
    file: join(folder, `${subject.replaceAll(" ", "-")}.db`),
    migrations: subject === "one row" ? [rowStep] : (await loadMemorySchema()).memoryMigrations,
    version: (await loadVersion()).memorydVersion,
    log: (await loadLog()).silentLog,
    clock: (await loadClock()).systemClock,
  });
}

async function compare(subject: Subject, job: GroupCommitJob): Promise<readonly Comparison[]> {
  const { clients, rounds, warmUpMs, measureMs } = job;
  const database = await openFor(subject, job.folder);
  const writingBy = (write: Write) =>
    subject === "one row" ? rowWriting(database, write) : recordWriting(database, write);
  const alone = await writingBy(createLoneWriter(database));
  const grouped = await writingBy(database.write);
  let commits = 0;
  let writes = 0;
  database.onBatch((jobs) => {
    commits += 1;
    writes += jobs;
  });
  const measure = (once: Writing, count: number): Promise<Rate> =>
    runClosedLoop({ clients: count, warmUpMs, measureMs, once: async () => void (await once()) });
  const found = clients.map((count) => ({
    count,
    alone: [] as Rate[],
    grouped: [] as Comparison["grouped"][],
  }));
  for (let round = 0; round < rounds; round += 1) {
    for (const cell of found) {
      say(`round ${round + 1} of ${rounds}: ${subject}, ${cell.count} in flight`);
      cell.alone.push(await measure(alone, cell.count));
      commits = 0;
      writes = 0;
      const rate = await measure(grouped, cell.count);
      cell.grouped.push({ ...rate, writesPerCommit: writes / commits });
    }
  }
  await database.close();
  return found.map(({ count, ...rates }) => ({
    subject,
    clients: count,
    alone: best(rates.alone),
    grouped: best(rates.grouped),
  }));
}

async function run(job: GroupCommitJob): Promise<GroupCommitAnswer> {
  const fsync = measureFsync(job.folder, job.fsyncs);
  const comparisons: Comparison[] = [];
  for (const subject of subjects) comparisons.push(...(await compare(subject, job)));
  return { fsync, comparisons };
}

await answerJob(run);
