/** A process that is still in its second migration when it is killed. Argument: the database file. */
import { openSqliteDatabase } from "../../src/db/sqlite/database.js";
import { systemClock } from "../../src/kernel/clock.js";
import { silentLog } from "../../src/kernel/log.js";
import { itemsStep } from "./items-step.js";

const endless = {
  id: "items/0002-tags",
  sqlite: `create table tags (tag text) strict;
    insert into tags
    with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 1000000000)
    select hex(zeroblob(500)) || n from numbers;`,
};

await openSqliteDatabase({
  file: process.argv[2] ?? "",
  migrations: [itemsStep, endless],
  version: "1.0.0",
  log: silentLog,
  clock: systemClock,
});
