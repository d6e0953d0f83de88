/**
 * The sentences of seeds/memory-service.md, each proven through the public door: the service, lists,
 * writes, deletes and the cursor. Those about records are in `contract-records.test.ts`, facts of the wire in
 * `wire.test.ts`.
 */
import { describe, expect } from "vitest";
import { MemoryType } from "../../gen/magus/memory/v1/memory_pb.js";
import { verifies } from "../support/verifies.js";
import { engines, useDoor } from "./door.js";
import { errorOf, refusalOf } from "./errors.js";
import { createdMs, decision, largestFields, longName, oneTo, updatedMs } from "./records.js";
import { freshWorkspace, hostileText } from "./workspace.js";

describe.each(engines)("on %s", (engine) => {
  const door = useDoor(engine);
  const fresh = () => freshWorkspace(door());

  const full = decision("a", { status: "active", body: "Key by content hash.", references: ["b", "c"] });
  const notFound = { code: "not_found", reason: "RECORD_NOT_FOUND" };

  verifies(
    "memory.service.records-and-cursor",
    "records and the cursor are kept by one service",
    async () => {
      const { update, list, remove, cursor, write } = fresh();
      const stored = await update(full);
      expect(await list()).toEqual([stored]);
      await remove("a");
      expect(await list()).toEqual([]);
      expect([await write("next: the codec"), await cursor()]).toEqual([
        "next: the codec",
        "next: the codec",
      ]);
      await write("next: the tests");
      expect(await cursor()).toBe("next: the tests");
    },
  );

  verifies("memory.list.full-records", "a list shows every field of each record", async () => {
    const { update, list } = fresh();
    await update(full);
    const [record] = await list();
    expect(record).toMatchObject(full);
    expect(updatedMs(record)).toBeGreaterThan(0);
    expect(createdMs(record)).toBeGreaterThan(0);
  });

  verifies("memory.list.records-are-small", "the largest record that is taken fits an answer", async () => {
    const { update, list } = fresh();
    const { refs, references, ...fields } = largestFields;
    const memory = { ...fields, name: longName("large"), refs: [...refs], references: [...references] };
    const stored = await update(memory);
    expect(await list()).toEqual([stored]);
  });

  verifies("memory.list.paginated-by-contract", "following the tokens gives every record once", async () => {
    const { update, page } = fresh();
    const names = oneTo(25).map((number) => `name-${10 + number}`);
    await Promise.all(names.map((name) => update(decision(name))));
    const seen: string[] = [];
    for (let token: string | undefined; token !== ""; ) {
      const answer = await page(7, token);
      seen.push(...answer.memories.map(({ name }) => name));
      token = answer.nextPageToken;
    }
    expect(seen).toEqual(names);
  });

  verifies("memory.list.all-by-default", "without a size and a token all records come at once", async () => {
    const { update, list } = fresh();
    await Promise.all(oneTo(150).map((number) => update(decision(`name-${number}`))));
    expect(await list()).toHaveLength(150);
  });

  verifies("memory.list.page-size", "a page has as many records as were asked for", async () => {
    const { update, page } = fresh();
    for (const name of ["a", "b", "c"]) await update(decision(name));
    expect((await page(2)).memories.map(({ name }) => name)).toEqual(["a", "b"]);
  });

  verifies("memory.list.page-token", "the token of a page asks for the next one", async () => {
    const { update, page } = fresh();
    for (const name of ["a", "b", "c"]) await update(decision(name));
    const { nextPageToken } = await page(2);
    expect((await page(2, nextPageToken)).memories.map(({ name }) => name)).toEqual(["c"]);
  });

  verifies("memory.list.no-token-when-complete", "an answer with everything has no token", async () => {
    const { update, page } = fresh();
    expect((await page(0)).nextPageToken).toBe("");
    for (const name of ["a", "b"]) await update(decision(name));
    for (const size of [0, 2, 3]) expect((await page(size)).nextPageToken).toBe("");
    expect((await page(1)).nextPageToken).not.toBe("");
  });

  verifies("memory.update.upsert-by-name", "a write finds its record by the name that was sent", async () => {
    const { update, list } = fresh();
    await update(decision("a", { status: "one" }));
    await update(decision("b", { status: "two" }));
    await update(decision("a", { status: "three" }));
    expect((await list()).map(({ name, status }) => [name, status])).toEqual([
      ["a", "three"],
      ["b", "two"],
    ]);
  });

  verifies("memory.update.allow-missing", "with allow_missing an absent record is created", async () => {
    const { update, list } = fresh();
    const stored = await update(full, { allowMissing: true });
    expect(await list()).toEqual([stored]);
  });

  verifies(
    "memory.update.absent-without-allow-missing",
    "without allow_missing nothing is created",
    async () => {
      const { update, list } = fresh();
      expect(await refusalOf(update(full, { allowMissing: false }))).toEqual(notFound);
      expect(await list()).toEqual([]);
    },
  );

  verifies(
    "memory.update.in-place",
    "a record that exists is changed, with allow_missing or without",
    async () => {
      const { update, list } = fresh();
      const first = await update(full);
      for (const allowMissing of [true, false]) {
        const changed = await update({ ...full, status: `with ${allowMissing}` }, { allowMissing });
        expect(await list()).toEqual([changed]);
        expect(createdMs(changed)).toBe(createdMs(first));
      }
    },
  );

  verifies("memory.update.empty-mask-full-replace", "an empty mask replaces the whole record", async () => {
    const { update, list } = fresh();
    await update(full);
    const stored = await update(decision("a", { type: MemoryType.PLAN }), { paths: [] });
    expect(stored).toMatchObject({ type: MemoryType.PLAN, status: "", body: "", references: [] });
    expect(await list()).toEqual([stored]);
  });

  verifies(
    "memory.update.aip-134-upsert",
    "a record is created from all that was sent, whatever the mask",
    async () => {
      const { update } = fresh();
      expect(await update(full, { paths: ["status"] })).toMatchObject(full);
      const { fields } = await refusalOf(update(decision("c", { refs: [] }), { paths: ["status"] }));
      expect(fields).toEqual(["memory.refs"]);
    },
  );

  verifies("memory.update.answers-stored-record", "a write answers the record as it is stored", async () => {
    const { update, list } = fresh();
    const stored = await update({ ...full, body: " \nKey by content hash.\u3000" });
    expect(stored).toMatchObject(full);
    expect(await list()).toEqual([stored]);
    const partial = await update({ name: "a", status: "done" }, { paths: ["status"] });
    expect(partial).toMatchObject({ ...full, status: "done" });
    expect(await list()).toEqual([partial]);
  });

  verifies("memory.update.server-set-times", "the times of an answer are the server's", async () => {
    const { update } = fresh();
    const before = Date.now();
    const stored = await update(full);
    expect(createdMs(stored)).toBe(updatedMs(stored));
    expect(createdMs(stored)).toBeGreaterThanOrEqual(before);
    expect(createdMs(stored)).toBeLessThanOrEqual(Date.now());
    const changed = await update({ ...full, status: "done" });
    expect(updatedMs(changed)).toBeGreaterThan(updatedMs(stored));
    expect(createdMs(changed)).toBe(createdMs(stored));
  });

  verifies("memory.delete.by-name", "a delete removes the record of that name and no other", async () => {
    const { update, list, remove } = fresh();
    for (const name of ["a", "a-b", "ab"]) await update(decision(name));
    await remove("a");
    expect((await list()).map(({ name }) => name)).toEqual(["a-b", "ab"]);
  });

  verifies("memory.delete.absent-without-allow-missing", "deleting what is not there fails", async () => {
    const { remove } = fresh();
    expect(await refusalOf(remove("a"))).toEqual(notFound);
  });

  verifies(
    "memory.delete.allow-missing-noop",
    "with allow_missing that succeeds and changes nothing",
    async () => {
      const { update, list, remove } = fresh();
      const stored = await update(full);
      await remove("gone", true);
      expect(await list()).toEqual([stored]);
    },
  );

  verifies("memory.delete.idempotent", "a delete with allow_missing may be repeated", async () => {
    const { update, list, remove } = fresh();
    await update(full);
    const answers = [await remove("a", true), await remove("a", true), await remove("a", true)];
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
    expect(await list()).toEqual([]);
  });

  verifies("memory.cursor.singleton", "there is one cursor", async () => {
    const { cursor, write, list } = fresh();
    await write("one");
    await write("two");
    expect(await cursor()).toBe("two");
    expect(await list()).toEqual([]);
  });

  verifies("memory.cursor.get", "reading the cursor gives what was written last", async () => {
    const { cursor, write } = fresh();
    for (const content of ["one", "", "three"]) {
      await write(content);
      expect(await cursor()).toBe(content);
    }
  });

  verifies("memory.cursor.empty-when-never-written", "a cursor that was never written is empty", async () => {
    const { cursor } = fresh();
    expect(await cursor()).toBe("");
  });

  verifies("memory.cursor.overwrite", "writing the cursor replaces all of it", async () => {
    const { cursor, write } = fresh();
    await write("a long text\nwith two lines");
    await write("x");
    expect(await cursor()).toBe("x");
  });

  verifies("memory.cursor.update-answers-content", "writing the cursor answers its text", async () => {
    const { write } = fresh();
    expect(await write(" next:\r\n\tthe codec ")).toBe(" next:\r\n\tthe codec ");
  });

  verifies(
    "memory.cursor.untrusted",
    "the cursor's text is handed back as it is and never quoted",
    async () => {
      const { cursor, write } = fresh();
      await write(hostileText);
      expect(await cursor()).toBe(hostileText);
      const error = await errorOf(write(`${hostileText}\0`));
      expect(JSON.stringify([error.message, ...error.details])).not.toContain("Ignore");
      expect(await cursor()).toBe(hostileText);
    },
  );
});
