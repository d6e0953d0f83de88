/** memoryd without a listener, for programs that embed it (daemon.md D17). */
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { Code, createClient } from "@connectrpc/connect";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { MemoryService } from "../gen/magus/memory/v1/memory_pb.js";
import { createApp, createMemorydTransport } from "../src/app.js";
import { loadConfig } from "../src/config/load.js";
import { errorOf } from "./memory/errors.js";
import { decision } from "./memory/records.js";
import { temporaryFolder } from "./support/folder.js";
import { verifies } from "./support/verifies.js";

// The configuration of whoever runs the tests must not matter.
beforeEach(() => {
  const folder = temporaryFolder();
  vi.stubEnv("MEMORYD_DATA_DIR", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
});

verifies("D17", "a transport in this process answers without a socket and keeps nothing", async () => {
  await using transport = await createMemorydTransport();
  const client = createClient(MemoryService, transport);
  const { memory } = await client.updateMemory({ memory: decision("a"), allowMissing: true });
  expect((await client.listMemories({})).memories).toEqual([memory]);
  await using other = await createMemorydTransport();
  expect((await createClient(MemoryService, other).listMemories({})).memories).toEqual([]);
});

verifies(
  "D17",
  "a transport on a file keeps what was written, and lets go of the file when it closes",
  async () => {
    const databaseFile = join(temporaryFolder(), "memoryd.db");
    const first = await createMemorydTransport({ databaseFile });
    const { memory } = await createClient(MemoryService, first).updateMemory({
      memory: decision("a"),
      allowMissing: true,
    });
    await expect(createMemorydTransport({ databaseFile })).rejects.toMatchObject({
      reason: "DATABASE_OWNED",
    });
    await first.close();
    await using second = await createMemorydTransport({ databaseFile });
    expect((await createClient(MemoryService, second).listMemories({})).memories).toEqual([memory]);
  },
);

test("a file that is named from the folder of the program is the one there", async () => {
  const databaseFile = join(temporaryFolder(), "memoryd.db");
  await using _transport = await createMemorydTransport({
    databaseFile: relative(process.cwd(), databaseFile),
  });
  expect(existsSync(databaseFile)).toBe(true);
});

test("a write that was sent before the close is answered and kept", async () => {
  const databaseFile = join(temporaryFolder(), "memoryd.db");
  const transport = await createMemorydTransport({ databaseFile });
  const client = createClient(MemoryService, transport);
  const writes = Array.from({ length: 20 }, (_, index) =>
    client.updateMemory({ memory: decision(`name-${index}`), allowMissing: true }),
  );
  await writes[0];
  await transport.close();
  const outcomes = await Promise.allSettled(writes);
  const answered = outcomes.filter(({ status }) => status === "fulfilled").length;
  await using again = await createMemorydTransport({ databaseFile });
  const { memories } = await createClient(MemoryService, again).listMemories({});
  expect(memories).toHaveLength(answered);
  for (const late of [
    client.updateCursor({ content: "late" }),
    client.listMemories({}),
    client.getCursor({}),
  ]) {
    const error = await errorOf(late);
    expect(error.code).toBe(Code.Unavailable);
    expect(error.rawMessage).toContain("memoryd was closed in this process");
  }
});

verifies("D17", "an app closes with the block that holds it", async () => {
  const config = loadConfig({ flags: { "database.url": `sqlite:${join(temporaryFolder(), "memoryd.db")}` } });
  {
    await using app = await createApp(config);
    await createClient(MemoryService, app.transport).updateCursor({ content: "x" });
    await expect(createApp(config)).rejects.toMatchObject({ code: "unavailable" });
  }
  await using again = await createApp(config);
  expect((await createClient(MemoryService, again.transport).getCursor({})).content).toBe("x");
});
