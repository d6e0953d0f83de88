/** The list of workspaces (memory.md M60). */
import { describe, expect, test } from "vitest";
import { opened, put, remove, scopeOf, startMs, write } from "../memory-storage/support.js";
import type { OpenStorage } from "../memory-storage.js";

export function workspacePromises(open: OpenStorage): void {
  describe("the workspaces", () => {
    test("come in byte order with their counts and the time of their last write", async () => {
      const { storage, setClock } = await opened(open);
      expect(await storage.listWorkspaces(undefined, 10)).toEqual([]);
      for (const workspace of ["ab", "a0", "a-b", "a"]) await put(storage, "n", {}, scopeOf(workspace));
      setClock(startMs + 50);
      await put(storage, "m", {}, scopeOf("a"));
      await remove(storage, "n", scopeOf("a0"));
      await write(storage, "text", scopeOf("cursor-only"));
      expect(await storage.listWorkspaces(undefined, 10)).toEqual([
        { workspace: "a", recordCount: 2, updatedMs: startMs + 50 },
        { workspace: "a-b", recordCount: 1, updatedMs: startMs },
        { workspace: "a0", recordCount: 0, updatedMs: startMs + 50 },
        { workspace: "ab", recordCount: 1, updatedMs: startMs },
        { workspace: "cursor-only", recordCount: 0, updatedMs: startMs + 50 },
      ]);
    });

    test("are answered after one, and at most so many", async () => {
      const { storage } = await opened(open);
      for (const workspace of ["a", "b", "c"]) await write(storage, "text", scopeOf(workspace));
      const names = async (after: string | undefined, limit: number) =>
        (await storage.listWorkspaces(after, limit)).map(({ workspace }) => workspace);
      expect(await names(undefined, 2)).toEqual(["a", "b"]);
      expect(await names("a", 2)).toEqual(["b", "c"]);
      expect(await names("bb", 2)).toEqual(["c"]);
      expect(await names("c", 2)).toEqual([]);
    });
  });
}
