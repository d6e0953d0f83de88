/**
 * What a start costs (daemon.md D9) does not grow with the database. It is told by the bytes that the daemon has
 * read when it is ready, not by time, which other programs share; how long it takes is measured by the benchmark.
 */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { type Daemon, startDaemon } from "../support/daemon.js";
import { temporaryFolder } from "../support/folder.js";

const records = 20_000;
const bodyLength = 1_500;

/** Bytes that a process has asked the system for so far, its program included. */
function bytesRead({ ready }: Daemon): number {
  const counters = readFileSync(`/proc/${ready.pid}/io`, "utf8");
  return Number(/^rchar: (\d+)$/m.exec(counters)?.[1]);
}

/** Writes records with their revisions straight into the file of a daemon that has stopped. */
function fill(folder: string): void {
  const database = new Database(join(folder, "memoryd.db"));
  const body = "x".repeat(bodyLength);
  const content = JSON.stringify({
    type: 2,
    refs: [{ kind: 2, target: "a" }],
    status: "",
    body,
    references: [],
  });
  database.transaction(() => {
    database
      .prepare("insert into memory_workspaces values ('default', 'epoch', ?, 0, ?, 1, 1)")
      .run(records, records);
    const record = database.prepare(
      `insert into memory_records (rid, workspace, name, type, status, body, created_ms, updated_ms, revision, writer_user, writer_agent)
       values (?, 'default', ?, 2, '', ?, ?, ?, ?, 'ada', '')`,
    );
    const ref = database.prepare(
      "insert into memory_refs (workspace, name, ordinal, kind, target) values ('default', ?, 0, 2, 'a')",
    );
    const revision = database.prepare(
      "insert into memory_revisions values ('default', ?, ?, 1, ?, 'ada', '', ?)",
    );
    for (let number = 1; number <= records; number += 1) {
      const name = `record-${number}`;
      record.run(number, name, body, number, number, number);
      ref.run(name);
      revision.run(number, name, number, content);
    }
  })();
  database.close();
}

test("a start reads no more of a large database than of an empty one (D9)", async (context) => {
  context.skip(process.platform !== "linux", "only Linux says how much a process has read");
  const folder = temporaryFolder();
  const first = await startDaemon({ folder });
  await first.stop();
  const empty = await startDaemon({ folder });
  const fromEmpty = bytesRead(empty);
  await empty.stop();

  fill(folder);
  expect(statSync(join(folder, "memoryd.db")).size).toBeGreaterThan(50_000_000);
  const full = await startDaemon({ folder });
  expect(bytesRead(full) - fromEmpty).toBeLessThan(500_000);

  const response = await fetch(`${full.url}/status`, { headers: { authorization: `Bearer ${full.token}` } });
  expect(await response.json()).toMatchObject({ memory: { records } });
});
