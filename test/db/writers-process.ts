/**
 * A process with 20 writers that print the number of each item once its write is acknowledged, or the code of
 * the error that refused it. Arguments: the database file, the size of an item, and after how many answers a
 * writer stops (never, when it is left out).
 */
import { openSqliteDatabase } from "../../src/db/sqlite/database.js";
import { systemClock } from "../../src/kernel/clock.js";
import { isMemorydError } from "../../src/kernel/errors.js";
import { silentLog } from "../../src/kernel/log.js";
import { itemsStep } from "./items-step.js";

const [file = "", bytes = "0", most = "Infinity"] = process.argv.slice(2);
const database = await openSqliteDatabase({
  file,
  migrations: [itemsStep],
  version: "1.0.0",
  log: silentLog,
  clock: systemClock,
});
const insert = database.connection.prepare("insert into items values (?, ?)");
const half = database.connection.prepare("insert into items values (?, 'half')");
const content = "x".repeat(Number(bytes));
let next = Number(database.connection.prepare("select count(*) from items").pluck().get());

async function writeOne(): Promise<void> {
  const name = `n${next++}`;
  try {
    await database.write(() => {
      half.run(`${name}/1`);
      insert.run(name, content);
      half.run(`${name}/2`);
    });
    process.stdout.write(`${JSON.stringify({ name })}\n`);
  } catch (error) {
    process.stdout.write(
      `${JSON.stringify({ refused: isMemorydError(error) ? error.code : String(error) })}\n`,
    );
  }
}

async function writer(): Promise<void> {
  for (let answers = 0; answers < Number(most); answers += 1) await writeOne();
}

await Promise.all(Array.from({ length: 20 }, writer));
process.stdout.write(`${JSON.stringify({ done: true })}\n`);
