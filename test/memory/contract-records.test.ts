/** The sentences of seeds/memory-service.md about records, refs and types, each proven through the public door. */
import { describe, expect, test } from "vitest";
import { MemoryRefKind, MemoryType } from "../../gen/magus/memory/v1/memory_pb.js";
import { verifies } from "../support/verifies.js";
import { engines, useDoor } from "./door.js";
import { errorOf, refusalOf } from "./errors.js";
import { createdMs, decision, timeOf, updatedMs } from "./records.js";
import { freshWorkspace, hostileText } from "./workspace.js";

describe.each(engines)("on %s", (engine) => {
  const door = useDoor(engine);
  const fresh = () => freshWorkspace(door());

  const full = decision("a", { status: "active", body: "Key by content hash.", references: ["b", "c"] });
  const refused = { code: "invalid_argument", reason: "INVALID_ARGUMENT" };

  verifies("memory.record.name-kebab-slug", "a name is a kebab-case slug", async () => {
    const { update, list } = fresh();
    for (const name of ["cacheKey", "cache_key", "cache key", "-cache", "cache-", "cache--key", "", "é"]) {
      expect(await refusalOf(update(decision(name)))).toEqual({ ...refused, fields: ["memory.name"] });
    }
    await update(decision("cache-key-2"));
    expect((await list()).map(({ name }) => name)).toEqual(["cache-key-2"]);
  });

  const types = [MemoryType.POINTER, MemoryType.DECISION, MemoryType.PLAN];

  verifies("memory.record.refs-required", "a record of any type needs refs", async () => {
    const { update, list } = fresh();
    for (const type of types) {
      const call = update(decision("a", { type, refs: [] }));
      expect(await refusalOf(call)).toEqual({ ...refused, fields: ["memory.refs"] });
    }
    expect(await list()).toEqual([]);
  });

  verifies("memory.record.body-decision-plan-only", "only decisions and plans may have a body", async () => {
    const { update } = fresh();
    for (const type of [MemoryType.DECISION, MemoryType.PLAN]) {
      expect((await update(decision("a", { type, body: "Because." }))).body).toBe("Because.");
    }
    const call = update(decision("p", { type: MemoryType.POINTER, body: "Because." }));
    expect(await refusalOf(call)).toEqual({ ...refused, fields: ["memory.body"] });
  });

  verifies("memory.record.pointer-body-empty", "the body of a pointer is empty", async () => {
    const { update, list } = fresh();
    await update(decision("p", { type: MemoryType.POINTER, body: " \n" }));
    expect((await list()).map(({ body }) => body)).toEqual([""]);
  });

  verifies("memory.record.body-untrusted", "a body is handed back as it is and never quoted", async () => {
    const { update, list } = fresh();
    await update(decision("a", { body: hostileText }));
    expect((await list()).map(({ body }) => body)).toEqual([hostileText]);
    const error = await errorOf(update(decision("a", { body: `${hostileText}\x1b` })));
    expect(JSON.stringify([error.message, ...error.details])).not.toContain("Ignore");
  });

  verifies("memory.record.status-optional", "a record may have no status", async () => {
    const { update } = fresh();
    expect((await update(decision("a"))).status).toBe("");
    expect((await update(decision("a", { status: "done" }))).status).toBe("done");
    expect((await update(decision("a"))).status).toBe("");
  });

  verifies("memory.record.status-free", "a status is any word", async () => {
    const { update } = fresh();
    for (const status of ["accepted", "superseded", "done", "stale", "half done", "やりかけ", " X "]) {
      expect((await update(decision("a", { status }))).status).toBe(status);
    }
  });

  verifies("memory.record.references-by-name", "references are names of records, there or not", async () => {
    const { update, list } = fresh();
    await update(decision("a", { references: ["b", "not-written-yet"] }));
    await update(decision("b", { references: ["a"] }));
    expect((await list()).map(({ references }) => references)).toEqual([["b", "not-written-yet"], ["a"]]);
  });

  const sentTime = { seconds: 1n, nanos: 0 };

  verifies("memory.record.create-time-output-only", "a sent create time changes nothing", async () => {
    const { update } = fresh();
    const stored = await update({ ...full, createTime: sentTime });
    expect(createdMs(stored)).toBeGreaterThan(1_000_000);
    expect(createdMs(await update({ ...full, createTime: sentTime }))).toBe(createdMs(stored));
  });

  verifies("memory.record.update-time-output-only", "a sent update time changes nothing", async () => {
    const { update } = fresh();
    const stored = await update({ ...full, updateTime: sentTime });
    expect(updatedMs(stored)).toBeGreaterThan(1_000_000);
    expect(Date.parse(timeOf(stored))).toBe(updatedMs(stored));
  });

  verifies("memory.ref.typed-pointer", "a record's payload is a list of kinds with targets", async () => {
    const { update, list } = fresh();
    const refs = [
      { kind: MemoryRefKind.NODE, target: "project:magus" },
      { kind: MemoryRefKind.DOC, target: "docs/cache.md" },
      { kind: MemoryRefKind.NODE, target: "project:magus" },
    ];
    await update(decision("a", { refs }));
    expect((await list()).map((record) => record.refs)).toMatchObject([refs]);
  });

  /** Writes one record with the refs and answers those that are listed. */
  const keptRefs = async (refs: { kind: MemoryRefKind; target: string }[]): Promise<unknown> => {
    const { update, list } = fresh();
    await update(decision("a", { refs }));
    return (await list())[0]?.refs.map(({ kind, target }) => ({ kind, target }));
  };

  verifies(
    "memory.ref.target-forms",
    "a target is an id or path, a token, or the words of a query or command",
    async () => {
      const refs = [
        { kind: MemoryRefKind.NODE, target: "symbol:src/cache.ts#Store.put" },
        { kind: MemoryRefKind.NODE, target: "file:src/cache.ts" },
        { kind: MemoryRefKind.OUTPUT, target: "out:4f2a9c" },
        { kind: MemoryRefKind.QUERY, target: "deps(//cache) except //test" },
        { kind: MemoryRefKind.COMMAND, target: "npm test -- --grep 'cache key'" },
      ];
      expect(await keptRefs(refs)).toEqual(refs);
    },
  );

  verifies("memory.ref.kind-closed", "a kind that is not in the set is refused", async () => {
    const { update } = fresh();
    for (const kind of [MemoryRefKind.UNSPECIFIED, 6, 99, -1] as MemoryRefKind[]) {
      const call = update(decision("a", { refs: [{ kind, target: "x" }] }));
      expect(await refusalOf(call)).toEqual({ ...refused, fields: ["memory.refs[0].kind"] });
    }
  });

  verifies("memory.ref.node-doc-output", "a node, a doc and an output are kept with their kind", async () => {
    const refs = [MemoryRefKind.NODE, MemoryRefKind.DOC, MemoryRefKind.OUTPUT].map((kind) => ({
      kind,
      target: "target:apps/web:build",
    }));
    expect(await keptRefs(refs)).toEqual(refs);
  });

  verifies(
    "memory.ref.query-command-rerunnable",
    "a query and a command are kept to the letter",
    async () => {
      const target = "  grep -rn \"a  b\" src | sort -u # \\n 'x' \u00e9 ";
      const refs = [MemoryRefKind.QUERY, MemoryRefKind.COMMAND].map((kind) => ({ kind, target }));
      expect(await keptRefs(refs)).toEqual(refs);
    },
  );

  verifies("memory.type.closed", "a type that is not in the set is refused", async () => {
    const { update } = fresh();
    for (const type of [MemoryType.UNSPECIFIED, 4, 99, -1] as MemoryType[]) {
      const call = update(decision("a", { type }));
      expect(await refusalOf(call)).toEqual({ ...refused, fields: ["memory.type"] });
    }
  });

  verifies("memory.type.pointer-refs-only", "a pointer carries refs and no prose", async () => {
    const { update } = fresh();
    const pointer = decision("p", { type: MemoryType.POINTER });
    expect(await update(pointer)).toMatchObject({ type: MemoryType.POINTER, refs: pointer.refs, body: "" });
    const prose = update({ ...pointer, body: "Why." });
    expect(await refusalOf(prose)).toEqual({ ...refused, fields: ["memory.body"] });
    const turned = update(decision("d", { body: "Why." })).then(() =>
      update({ name: "d", type: MemoryType.POINTER }, { paths: ["type"] }),
    );
    expect(await refusalOf(turned)).toEqual({ ...refused, fields: ["memory.body"] });
  });

  verifies(
    "memory.type.decision-plan-caption",
    "decisions and plans may say why beside their refs",
    async () => {
      const { update, list } = fresh();
      await update(decision("d", { body: "Hashes survive a rename." }));
      await update(decision("p", { type: MemoryType.PLAN, body: "First the codec,\nthen the wire." }));
      expect((await list()).map(({ refs, body }) => [refs.length, body])).toEqual([
        [1, "Hashes survive a rename."],
        [1, "First the codec,\nthen the wire."],
      ]);
    },
  );

  test("hostile text is kept in every field that takes text", async () => {
    const { update, list } = fresh();
    const refs = [{ kind: MemoryRefKind.COMMAND, target: hostileText }];
    const stored = await update(
      decision("a", { refs, body: hostileText, status: "</fence> 'x'; drop table --" }),
    );
    expect(await list()).toEqual([stored]);
    expect(stored).toMatchObject({ refs, body: hostileText });
  });
});
