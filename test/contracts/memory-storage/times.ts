/** Times (memory.md M39) and positions (M43). */
import { describe, expect, test } from "vitest";
import { decisionFields, oneTo } from "../../memory/records.js";
import type { OpenStorage } from "../memory-storage.js";
import { keeping, opened, put, remove, scope, scopeOf, startMs, write } from "./support.js";

const hourMs = 60 * 60 * 1_000;

export function timePromises(open: OpenStorage): void {
  describe("the time of a write", () => {
    test("is the clock's when that is newer", async () => {
      const { storage, setClock } = await opened(open);
      expect((await put(storage, "a")).updatedMs).toBe(startMs);
      setClock(startMs + hourMs);
      expect(await put(storage, "a")).toMatchObject({ createdMs: startMs, updatedMs: startMs + hourMs });
    });

    test("is a millisecond later than the one before in the same millisecond", async () => {
      const { storage } = await opened(open);
      const answers = await Promise.all(oneTo(40).map(() => put(storage, "a")));
      const times = answers.map(({ updatedMs }) => updatedMs).sort((a, b) => a - b);
      expect(times).toEqual(oneTo(40).map((number) => startMs + number - 1));
      expect(answers.map(({ createdMs }) => createdMs)).toEqual(answers.map(() => startMs));
    });

    test("does not go back with the clock", async () => {
      const { storage, setClock } = await opened(open);
      await put(storage, "a");
      await write(storage, "one");
      setClock(startMs - hourMs);
      expect(await put(storage, "a")).toMatchObject({ createdMs: startMs, updatedMs: startMs + 1 });
      expect(await write(storage, "two")).toMatchObject({ updatedMs: startMs + 1 });
    });

    test("of a record that comes back is later than any it had, its deletion included", async () => {
      const { storage, setClock } = await opened(open);
      await put(storage, "a");
      await put(storage, "a");
      await remove(storage, "a");
      expect(await put(storage, "a")).toMatchObject({ createdMs: startMs + 3, updatedMs: startMs + 3 });
      await remove(storage, "a");
      setClock(startMs - hourMs);
      expect((await put(storage, "a")).updatedMs).toBe(startMs + 5);
    });

    test("of one name or cursor does not move that of another", async () => {
      const { storage } = await opened(open);
      await Promise.all(oneTo(5).map(() => put(storage, "a")));
      expect((await put(storage, "b")).updatedMs).toBe(startMs);
      expect((await write(storage, "text")).updatedMs).toBe(startMs);
      expect((await put(storage, "a", {}, scopeOf("there"))).updatedMs).toBe(startMs);
    });
  });

  describe("positions", () => {
    test("have no gap under forty writers at once, whatever is kept or thrown between them", async () => {
      const { storage, probe } = await opened(open);
      const failing = () => {
        throw new Error("not so");
      };
      const writer = async (number: number): Promise<number[]> => {
        const name = `name-${number % 7}`;
        const first = await put(storage, name, { status: String(number) });
        await storage.change(scope, name, keeping);
        const second = await write(storage, `text ${number}`);
        await expect(storage.change(scope, name, failing)).rejects.toThrow("not so");
        await remove(storage, `name-${(number + 3) % 7}`);
        return [first.revision, second.revision];
      };
      const answered = (await Promise.all(oneTo(40).map(writer))).flat();
      expect(new Set(answered).size).toBe(80);
      const rows = await probe.revisions("here");
      const { position = 0 } = (await probe.workspace("here")) ?? {};
      expect(position).toBeGreaterThanOrEqual(80);
      expect(rows.map(({ revision }) => revision)).toEqual(oneTo(position));
    });

    test("follow the order of the writes, records and the cursor alike", async () => {
      const { storage } = await opened(open);
      expect((await put(storage, "a")).revision).toBe(1);
      expect((await write(storage, "text")).revision).toBe(2);
      expect((await put(storage, "b")).revision).toBe(3);
      await remove(storage, "a");
      expect((await put(storage, "a")).revision).toBe(5);
    });

    test("are each workspace's own", async () => {
      const { storage, probe } = await opened(open);
      const workspaces = ["one", "two", "three"];
      await Promise.all(
        workspaces.flatMap((workspace) =>
          oneTo(15).map((number) =>
            storage.change(scopeOf(workspace), `name-${number}`, () => ({
              kind: "put",
              fields: decisionFields(),
            })),
          ),
        ),
      );
      for (const workspace of workspaces) {
        const rows = await probe.revisions(workspace);
        expect(rows.map(({ revision }) => revision)).toEqual(oneTo(15));
        expect(await probe.workspace(workspace)).toMatchObject({ position: 15, recordCount: 15 });
      }
    });
  });
}
