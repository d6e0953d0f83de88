/** `kill -9` in the middle of an import (MV67): each file is whole or absent, and importing again brings the rest. */
import { expect, test } from "vitest";
import { ImportOutcome } from "../../gen/memoryd/records/v1/records_pb.js";
import { createMemorydClients } from "../../src/client/clients.js";
import { createHttpTransport } from "../../src/client/transport.js";
import { decisionFile, exportedFrom, type FileInit } from "../memory/files.js";
import { oneTo } from "../memory/records.js";
import { type Daemon, startDaemon } from "../support/daemon.js";
import { temporaryFolder } from "../support/folder.js";
import { until } from "../support/until.js";

const body = `${"why ".repeat(500)}.`;
const files: FileInit[] = oneTo(1_000).map((number) =>
  decisionFile(`n${number}`, { status: "imported", created: number, updated: number }, body),
);

const clientsOf = ({ url, token }: Daemon) => createMemorydClients(createHttpTransport({ url, token }));

const countOf = async (daemon: Daemon): Promise<number> =>
  (await clientsOf(daemon).memory.listMemories({ pageSize: 1_000 })).memories.length;

test("MV67 an import that was killed midway is finished by the same import, and what had landed is unchanged", async () => {
  const folder = temporaryFolder();
  const first = await startDaemon({ folder });
  const call = clientsOf(first)
    .records.importRecords({ files })
    .catch((error: unknown) => error);
  await until("the first files have landed", async () => (await countOf(first)) > 0);
  await first.kill();
  expect(await call).toBeInstanceOf(Error);

  const second = await startDaemon({ folder });
  const landed = await exportedFrom(clientsOf(second).records.exportRecords({}));
  expect(landed.summary.recordCount).toBeGreaterThan(0);
  expect(landed.summary.recordCount).toBeLessThan(files.length);
  const { results } = await clientsOf(second).records.importRecords({ files });
  for (const { path, outcome } of results) {
    const expected = path in landed.texts ? ImportOutcome.UNCHANGED : ImportOutcome.CREATED;
    expect([path, ImportOutcome[outcome]]).toEqual([path, ImportOutcome[expected]]);
  }
  const whole = await exportedFrom(clientsOf(second).records.exportRecords({}));
  expect(whole.texts).toMatchObject(landed.texts);
  expect(whole.summary.recordCount).toBe(files.length);
  await second.stop();
});
