/**
 * A disk that is full (MV45): writes are answered `unavailable` and leave nothing behind, reads go on, and once
 * there is room again so do writes, without a restart. The daemon is real; the disk is full by a limit that SQLite
 * keeps, and where this user may mount one (Linux, as root) also by a small file system that is really full.
 */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { JsonObject } from "@bufbuild/protobuf";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Daemon, newFolder, spawnDaemon, startDaemon } from "../support/daemon.js";
import { temporaryFolder } from "../support/folder.js";
import { until } from "../support/until.js";
import { verifies } from "../support/verifies.js";
import { type Door, refusalOf } from "./door.js";
import { openGrpcDoor } from "./grpc-door.js";

type Disk = {
  readonly name: string;
  /** Whether others than SQLite find it full too, so that nothing at all can be written. */
  readonly isReal: boolean;
  /** A daemon on the disk, with what fills it and what frees it. */
  readonly open: () => Promise<{
    readonly daemon: Daemon;
    readonly fill: () => Promise<void>;
    readonly free: () => Promise<void>;
  }>;
};

const limited: Disk = {
  name: "a database that may not grow",
  isReal: false,
  async open() {
    const preload = [fileURLToPath(new URL("full-disk-preload.mjs", import.meta.url))];
    const daemon = await startDaemon({ preload });
    const tell = async (message: string): Promise<void> => {
      daemon.child.send(message);
      await once(daemon.child, "message");
    };
    return { daemon, fill: () => tell("full"), free: () => tell("free") };
  },
};

/** Mounts a small file system on `folder`; false where that is not to be had. */
function mountSmall(folder: string): boolean {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m,mode=700", "tmpfs", folder], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const small: Disk = {
  name: "a small file system",
  isReal: true,
  async open() {
    const folder = temporaryFolder();
    if (!mountSmall(folder)) throw new Error("it could be mounted a moment ago");
    onTestFinished(() => void execFileSync("umount", ["--lazy", folder]));
    const daemon = await startDaemon({ folder });
    const ballast = join(folder, "ballast");
    return {
      daemon,
      fill: async () => {
        // The first fill takes what there is; a rest below one block is left.
        try {
          writeFileSync(ballast, Buffer.alloc(4 * 1024 * 1024));
        } catch (error) {
          expect(error).toMatchObject({ code: "ENOSPC" });
        }
      },
      free: async () => rmSync(ballast),
    };
  },
};

function canMount(): boolean {
  const folder = newFolder();
  const isMounted = mountSmall(folder);
  if (isMounted) execFileSync("umount", [folder]);
  rmSync(folder, { recursive: true });
  return isMounted;
}

const memory = (name: string, length: number): JsonObject => ({
  name,
  type: "MEMORY_TYPE_DECISION",
  refs: [{ kind: "MEMORY_REF_KIND_NODE", target: `file:src/${name}.ts` }],
  body: name.padEnd(length, "."),
});

const put = (door: Door, name: string, length: number): Promise<unknown> =>
  door.call("UpdateMemory", { memory: memory(name, length), allowMissing: true });

async function namesIn(door: Door): Promise<readonly string[]> {
  const { message } = await door.call("ListMemories", {});
  return ((message.memories ?? []) as { name: string }[]).map(({ name }) => name);
}

const named = (what: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${what}-${index}`);

/** The counters of the only workspace and the rows that they count. */
function counted({ folder }: Daemon): unknown {
  const database = new Database(join(folder, "memoryd.db"), { readonly: true });
  try {
    const sql = `select position, (select count(*) from memory_revisions), record_count,
      (select count(*) from memory_records) from memory_workspaces`;
    return database.prepare(sql).raw().all();
  } finally {
    database.close();
  }
}

function openDoor(daemon: Daemon): Door {
  const door = openGrpcDoor(daemon, "TCP");
  onTestFinished(() => door.close());
  return door;
}

describe.each(canMount() ? [limited, small] : [limited])("on $name", ({ open, isReal }) => {
  verifies("MV45", "writes are refused while reads go on, and it recovers by itself", async () => {
    const { daemon, fill, free } = await open();
    const door = openDoor(daemon);
    const before = named("before", 5);
    await Promise.all(before.map((name) => put(door, name, 1_000)));
    await door.call("UpdateCursor", { content: "here" });

    await fill();
    const big = named("big", 20);
    const refusals = await Promise.all(big.map((name) => refusalOf(put(door, name, 60_000))));
    expect(refusals.map(({ code, info }) => [code, info?.reason])).toEqual(
      big.map(() => ["unavailable", "DISK_FULL"]),
    );
    expect(refusals[0]?.message).not.toContain(daemon.folder);
    expect(await namesIn(door)).toEqual(before);
    expect((await door.call("GetCursor", {})).message).toEqual({ content: "here" });
    expect(counted(daemon)).toEqual([[6, 6, 5, 5]]);

    await free();
    await Promise.all(big.slice(0, 5).map((name) => put(door, name, 60_000)));
    const all = [...before, ...big.slice(0, 5)];
    expect(await namesIn(door)).toEqual(all);
    expect(counted(daemon)).toEqual([[11, 11, 10, 10]]);
    await until("the daemon calls itself ready", async () => (await fetch(`${daemon.url}/readyz`)).ok);

    await daemon.kill();
    const next = await startDaemon({ folder: daemon.folder });
    expect(await namesIn(openDoor(next))).toEqual(all);
  });

  test("killed while it is full, it starts again with what it had, once there is room to say so", async () => {
    const { daemon, fill, free } = await open();
    const door = openDoor(daemon);
    const before = named("before", 3);
    await Promise.all(before.map((name) => put(door, name, 1_000)));
    await fill();
    expect((await refusalOf(put(door, "big", 60_000))).code).toBe("unavailable");
    await daemon.kill();
    if (isReal) {
      const refused = spawnDaemon({ folder: daemon.folder });
      expect(await refused.ended).toEqual({ code: 9, signal: null });
      expect(refused.stderr()).toMatch(/The disk that holds .* is full: free some space and/);
      await free();
    }
    const next = await startDaemon({ folder: daemon.folder });
    expect(await namesIn(openDoor(next))).toEqual(before);
  });
});
