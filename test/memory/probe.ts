/** What the port of the memory domain does not show, read from the tables of SQLite and done to them. */
import type { MemoryProbe } from "../contracts/memory-storage.js";
import type { Stack } from "./stack.js";

const damages = {
  type: "update memory_records set type = 9 where workspace = ? and name = ?",
  kind: "update memory_refs set kind = 77 where workspace = ? and name = ?",
  refs: "delete from memory_refs where workspace = ? and name = ?",
} as const;

export const probeOf = ({ rows, run }: Stack): MemoryProbe => ({
  revisions: async (workspace) =>
    rows("select * from memory_revisions where workspace = ? order by revision", workspace).map((row) => ({
      revision: Number(row.revision),
      name: String(row.name),
      kind: Number(row.kind),
      atMs: Number(row.at_ms),
      writer: { user: String(row.writer_user), agent: String(row.writer_agent) },
      content: row.content === null ? null : JSON.parse(String(row.content)),
    })),
  workspace: async (workspace) => {
    const [row] = rows("select * from memory_workspaces where workspace = ?", workspace);
    if (row === undefined) return undefined;
    return {
      position: Number(row.position),
      trimmedPosition: Number(row.trimmed_position),
      recordCount: Number(row.record_count),
    };
  },
  damage: async (workspace, name, part) => run(damages[part], workspace, name),
});
