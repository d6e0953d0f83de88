/**
 * `kill -9` at any moment (MV43): what was acknowledged is there with its content, what was not is whole or
 * absent, and the next start needs no repair. The daemon, its clients and its files are real.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, vi } from "vitest";
import { type Daemon, launchDaemon } from "../support/daemon.js";
import { temporaryFolder } from "../support/folder.js";
import { createSeeded, type Seeded, seedOfRun } from "../support/seeded.js";
import { until } from "../support/until.js";
import { verifies } from "../support/verifies.js";
import { type Inspected, inspect } from "./crash/inspect.js";
import { createLedger, partsOf } from "./crash/ledger.js";
import { connectClients, keepWriting, type MemoryClient, write } from "./crash/writers.js";

// Some 125 starts; on a machine that does something else at the same time they take their time.
vi.setConfig({ testTimeout: 240_000 });

const seed = seedOfRun("crash tests");
/** False once the test is over, also by running out of time: nobody waits for its rounds any more. */
function goingOn(): () => boolean {
  let isGoing = true;
  onTestFinished(() => {
    isGoing = false;
  });
  return () => isGoing;
}

/** A daemon that starts on what the last one left, as if nothing had happened. */
async function restart(folder: string): Promise<Daemon> {
  const daemon = await launchDaemon({ folder, flags: ["--log-format", "json"] });
  const complaints = daemon
    .stderr()
    .split("\n")
    .filter((line) => /"level":"(warn|error)"/.test(line));
  expect(complaints, "a start without repair").toEqual([]);
  return daemon;
}

async function end(daemon: Daemon): Promise<void> {
  const { signal } = await daemon.kill();
  expect(signal).toBe("SIGKILL");
}

/** What the daemon answers about a workspace is what was found in its file. */
async function checkAnswers(client: MemoryClient, workspace: string, found: Inspected | undefined) {
  const headers = { "memoryd-workspace": workspace };
  const { memories, nextPageToken } = await client.listMemories({}, { headers });
  const { content } = await client.getCursor({}, { headers });
  const answered = new Map(memories.map(({ name, status }) => [name, status]));
  if (content !== "") answered.set("", content);
  expect(nextPageToken).toBe("");
  expect(answered).toEqual(new Map(found?.stored.get(workspace) ?? []));
  for (const { status, body, refs, references } of memories) {
    const parts = { status, body, targets: refs.map(({ target }) => target), links: references };
    expect(parts).toEqual(partsOf(status));
  }
}

const workspaces = ["one", "two", "three", "four"];
const writers = 20;
const kills = 25;
const longestMs = 120;

async function oneRound(folder: string, round: number, chance: Seeded, found: Inspected | undefined) {
  const daemon = await restart(folder);
  const { clients, close } = connectClients(daemon);
  const ledger = createLedger();
  let isOver = false;
  const checked = workspaces[round % workspaces.length] as string;
  await checkAnswers(clients[round % clients.length] as MemoryClient, checked, found);
  const working = Array.from({ length: writers }, (_, index) => {
    const workspace = workspaces[index % workspaces.length] as string;
    return keepWriting({
      client: clients[index % clients.length] as MemoryClient,
      ledger,
      chance: createSeeded(chance.below(2 ** 31)),
      workspace,
      mark: `r${round}-w${index}`,
      stored: found?.stored.get(workspace),
      isOver: () => isOver,
    });
  });
  const done = Promise.all(working);
  await Promise.race([done, until("all are at work", () => ledger.acknowledged().length >= writers, 60_000)]);
  await Promise.race([done, sleep(chance.below(longestMs))]);
  isOver = true;
  await end(daemon);
  await done;
  close();
  return { ledger, found: inspect(folder, ledger, found) };
}

const writesIn = (found: Inspected | undefined): number =>
  [...(found?.positions.values() ?? [])].reduce((total, position) => total + position, 0);

verifies("MV43", "killed 25 times under 20 writers, it keeps every acknowledged write", async () => {
  const folder = temporaryFolder();
  const chance = createSeeded(seed);
  const isGoing = goingOn();
  const counts = { acknowledged: 0, cutOff: 0 };
  let found: Inspected | undefined;
  for (let round = 0; round < kills && isGoing(); round += 1) {
    const result = await oneRound(folder, round, chance, found);
    found = result.found;
    counts.acknowledged += result.ledger.acknowledged().length;
    counts.cutOff += result.ledger.pending().length;
  }
  const happened = writesIn(found) - counts.acknowledged;
  process.stdout.write(
    `${counts.acknowledged} writes were acknowledged; of ${counts.cutOff} cut off, ${happened} had happened\n`,
  );
  expect(counts.acknowledged).toBeGreaterThanOrEqual(kills * writers);
  expect(counts.cutOff).toBeGreaterThan(kills);
});

const lanes = 4;
const killsOfLane = 25;

/** One write on a fresh daemon, killed in the very turn in which the answer arrived. */
async function killAfterAnswer(folder: string, round: number, found: Inspected | undefined) {
  const daemon = await restart(folder);
  const { clients, close } = connectClients(daemon);
  const client = clients[round % clients.length] as MemoryClient;
  const ledger = createLedger();
  const workspace = "only";
  const name = round % 5 === 4 ? "" : `record-${round % 3}`;
  const isDelete = round % 7 === 6 && name !== "" && found?.stored.get(workspace)?.has(name) === true;
  await write(client, ledger, { workspace, name, text: isDelete ? undefined : `text-${round}` });
  await end(daemon);
  close();
  expect(ledger.acknowledged()).toHaveLength(1);
  return inspect(folder, ledger, found);
}

verifies("MV43", "killed 100 times right after it has answered, it keeps that write", async () => {
  const isGoing = goingOn();
  const lane = async (folder: string): Promise<Inspected | undefined> => {
    let found: Inspected | undefined;
    for (let round = 0; round < killsOfLane && isGoing(); round += 1) {
      found = await killAfterAnswer(folder, round, found);
    }
    return found;
  };
  const folders = Array.from({ length: lanes }, temporaryFolder);
  for (const found of await Promise.all(folders.map(lane))) {
    expect(found?.positions).toEqual(new Map([["only", killsOfLane]]));
  }
});
