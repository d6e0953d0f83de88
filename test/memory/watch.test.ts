/** WatchRecords at the door and at its service (memory.md M57): what a stream holds, how it is resumed and how it ends. */
import { setImmediate as turn } from "node:timers/promises";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { describe, expect, onTestFinished, test } from "vitest";
import { RecordService, type WatchRecordsResponse } from "../../gen/memoryd/records/v1/records_pb.js";
import type { Caller } from "../../src/kernel/caller.js";
import { type Call, workspaceMetadata } from "../../src/memory/service-call.js";
import { createWatchService, type WatchMessage, type WatchRequest } from "../../src/memory/service-watch.js";
import type { MemoryStorage } from "../../src/memory/storage.js";
import { until } from "../support/until.js";
import { verifies } from "../support/verifies.js";
import { createTestClock, doorForTest, engines } from "./door.js";
import { refusalOf } from "./errors.js";
import { calling, decision, decisionFields, oneTo } from "./records.js";
import { type Stack, stackForTest, tester } from "./stack.js";
import { briefOf, createHandSchedule, readerOf } from "./watching.js";

const dayMs = 24 * 60 * 60 * 1_000;

type Asking = Partial<Omit<WatchRequest, "position">> & { position?: string; workspace?: string };

/** A watch of the stack at its door, which is let go of with the test. */
function watching({ records }: Pick<Stack, "records">, { workspace, ...request }: Asking = {}) {
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  const options = { ...calling(workspace === undefined ? {} : { workspace }), signal: controller.signal };
  const reader = readerOf(records.watchRecords(request, options));
  // The client's iterators have no return: a call ends by its signal.
  return { ...reader, leave: async () => controller.abort() };
}

const put = ({ client }: Pick<Stack, "client">, name: string, status = "", workspace = "default") =>
  client.updateMemory({ memory: decision(name, { status }), allowMissing: true }, calling({ workspace }));

const briefs = (messages: readonly WatchRecordsResponse[]): string[] => messages.map(briefOf);

describe.each(engines)("a watch on %s", (engine) => {
  verifies(
    "MV62",
    "tells each later change once and in order, and goes on where it was dropped",
    async () => {
      const stack = await stackForTest(engine);
      await put(stack, "before");
      const first = watching(stack);
      expect(briefs(await first.take(1))).toEqual(["ready"]);
      await put(stack, "a");
      await put(stack, "a", "done");
      await stack.client.deleteMemory({ name: "a" });
      const messages = await first.take(3);
      expect(briefs(messages)).toEqual(["created a", "updated a", "deleted a"]);
      await first.leave();
      await put(stack, "b");
      await stack.records.restoreRecord({ name: "a" });
      const position = messages.at(-1)?.position ?? "";
      const second = watching(stack, { position });
      const resumed = await second.take(3);
      expect(briefs(resumed)).toEqual(["ready", "created b", "restored a"]);
      expect(resumed[0]?.position).toBe(position);
      await put(stack, "c");
      expect(briefs(await second.take(1))).toEqual(["created c"]);
    },
  );

  test("begins with where the workspace stands, also before its first write, which it then tells", async () => {
    const stack = await stackForTest(engine);
    const [early, late] = [watching(stack), watching(stack)];
    const { position } = await early.next();
    await late.take(1);
    await put(stack, "a");
    expect(briefs(await early.take(1))).toEqual(["created a"]);
    expect(briefs(await late.take(1))).toEqual(["created a"]);
    expect(briefs(await watching(stack, { position }).take(2))).toEqual(["ready", "created a"]);
    expect(stack.rows("select position from memory_workspaces")).toEqual([{ position: 1 }]);
  });

  test("sees one workspace alone", async () => {
    const stack = await stackForTest(engine);
    const here = watching(stack, { workspace: "here" });
    await here.take(1);
    await put(stack, "a", "", "there");
    await put(stack, "b", "", "here");
    const [message] = await here.take(1);
    expect(message && briefOf(message)).toBe("created b");
  });

  test("carries who wrote, when, and the record as it was answered, when that is asked for", async () => {
    const stack = await stackForTest(engine);
    const [bare, whole] = [watching(stack), watching(stack, { includeRecords: true })];
    await Promise.all([bare.take(1), whole.take(1)]);
    const { memory } = await put(stack, "a", "new");
    const expected = { revision: 1n, writer: { user: "tester", agent: "" }, time: memory?.updateTime };
    const [without, withRecord] = [await bare.next(), await whole.next()];
    expect(without.event.value).toMatchObject({ ...expected, name: "a", cursor: false });
    expect(without.event.value).not.toHaveProperty("record");
    expect(withRecord.event.value).toMatchObject({ ...expected, record: { memory, revision: 1n } });
    await stack.client.deleteMemory({ name: "a" });
    const deleted = (await whole.next()).event.value;
    expect(deleted).toMatchObject({ name: "a" });
    expect(deleted).not.toHaveProperty("record");
  });

  test("tells of the cursor only when that is asked for", async () => {
    const stack = await stackForTest(engine);
    const [bare, whole] = [watching(stack), watching(stack, { includeCursor: true })];
    await Promise.all([bare.take(1), whole.take(1)]);
    await stack.client.updateCursor({ content: "secret plans" });
    await stack.client.updateCursor({ content: "other plans" });
    await put(stack, "a");
    expect(briefs(await bare.take(1))).toEqual(["created a"]);
    const told = await whole.take(3);
    expect(briefs(told)).toEqual(["created (cursor)", "updated (cursor)", "created a"]);
    expect(told[0]?.event.value).toMatchObject({ name: "", cursor: true, revision: 1n });
    expect(told[0]?.event.value).not.toHaveProperty("record");
  });

  test("of a name written more often than revisions are kept ends with its newest state", async () => {
    const stack = await stackForTest(engine, { revisionsPerRecord: 10 });
    const { position } = await watching(stack).next();
    for (const n of oneTo(25)) await put(stack, "often", String(n));
    await put(stack, "once");
    const resumed = watching(stack, { position, includeRecords: true });
    const messages = await resumed.take(12);
    expect(briefs(messages.slice(-2))).toEqual(["updated often", "created once"]);
    expect(messages[10]?.event.value).toMatchObject({ record: { memory: { status: "25" } } });
  });

  test("tells nothing of a write that was refused or whose commit failed", async () => {
    const stack = await stackForTest(engine);
    const watch = watching(stack);
    await watch.take(1);
    const writes = [
      put(stack, "a"),
      stack.client.updateMemory({ memory: decision("b") }),
      stack.database.write(() => {
        stack.run("insert into memory_revisions values ('default', 2, 'ghost', 1, 0, '', '', null)");
        throw new Error("undone");
      }),
      put(stack, "c"),
    ];
    await Promise.allSettled(writes);
    expect(briefs(await watch.take(2))).toEqual(["created a", "created c"]);
  });

  verifies(
    "MV63",
    "begins with reset where what was missed cannot be told, and is refused a mangled position",
    async () => {
      const clock = createTestClock(Date.parse("2026-03-04T05:06:07.089Z"));
      const stack = await stackForTest(engine, { clock, deletedKeepDays: 1 });
      for (const name of ["a", "b"]) await put(stack, name);
      const { position: early } = await watching(stack).next();
      await stack.client.deleteMemory({ name: "a" });
      const { position: late } = await watching(stack).next();
      await put(stack, "c");
      const begins = async (position: string, workspace = "default") => {
        const watch = watching(stack, { position, workspace });
        const message = await watch.next();
        await watch.leave();
        return { brief: briefOf(message), position: message.position };
      };
      expect((await begins(early)).brief).toBe("ready");
      clock.set(clock.nowMs() + 3 * dayMs);
      expect(await stack.service.sweep()).toBe(1);
      const now = (await watching(stack).next()).position;
      expect(await begins(early)).toEqual({ brief: "reset", position: now });
      expect(await begins(late)).toEqual({ brief: "ready", position: late });

      const [epoch = "", count = ""] = now.split(".");
      expect((await begins(`${epoch}.${Number(count) + 1}`)).brief).toBe("reset");
      expect((await begins(now, "elsewhere")).brief).toBe("reset");
      await put(stack, "a", "", "elsewhere");
      expect((await begins(now, "elsewhere")).brief).toBe("reset");

      const other = await stackForTest(engine);
      for (const name of ["a", "b", "c", "d"]) await put(other, name);
      const foreign = watching(other, { position: now });
      const reset = await foreign.next();
      expect(briefOf(reset)).toBe("reset");
      await put(other, "e");
      expect(briefs(await foreign.take(1))).toEqual(["created e"]);

      // What a restored backup gets.
      stack.run("update memory_workspaces set epoch = ?", "f".repeat(32));
      expect((await begins(now)).brief).toBe("reset");

      for (const position of ["zzz", `${epoch}.x`, `${now} `]) {
        const refusal = await refusalOf(watching(stack, { position }).next());
        expect(refusal).toEqual({
          code: "invalid_argument",
          reason: "INVALID_ARGUMENT",
          fields: ["position"],
        });
      }
    },
  );

  test("that is open when its epoch changes is told reset, and then what follows", async () => {
    const stack = await stackForTest(engine);
    await put(stack, "a");
    const watch = watching(stack);
    await watch.take(1);
    stack.run("update memory_workspaces set epoch = ?", "f".repeat(32));
    await put(stack, "b");
    const reset = await watch.next();
    expect([briefOf(reset), reset.position]).toEqual(["reset", `${"f".repeat(32)}.2`]);
    await put(stack, "c");
    expect(briefs(await watch.take(1))).toEqual(["created c"]);
  });

  test("needs the right to read, and a workspace that is one", async () => {
    const reader: Caller = { user: "ana", right: "read" };
    const stack = await stackForTest(engine, { caller: reader });
    expect(briefs(await watching(stack).take(1))).toEqual(["ready"]);
    const refusal = await refusalOf(watching(stack, { workspace: "A b" }).next());
    expect(refusal).toMatchObject({ code: "invalid_argument", fields: [workspaceMetadata] });
  });

  test("changes nothing by reading", async () => {
    const stack = await stackForTest(engine);
    await put(stack, "a");
    const all = () =>
      ["workspaces", "records", "refs", "revisions"].map((table) =>
        stack.rows(`select * from memory_${table}`),
      );
    const before = all();
    for (const position of ["", ".0"]) {
      const watch = watching(stack, { position, includeRecords: true, includeCursor: true });
      await watch.take(1);
      await watch.leave();
    }
    expect(all()).toEqual(before);
  });
});

/** The service with timers that go off by hand, over a storage whose pages are counted. */
async function serviceForTest() {
  const stack = await stackForTest("SQLite in memory");
  const timers = createHandSchedule();
  let pages = 0;
  const storage: MemoryStorage = {
    ...stack.storage,
    changesAfter: (...request) => {
      pages += 1;
      return stack.storage.changesAfter(...request);
    },
  };
  const service = createWatchService(storage, { defaultWorkspace: "default" }, timers.schedule);
  const watch = (request: Partial<WatchRequest> = {}, signal?: AbortSignal) => {
    const call: Call = { caller: tester };
    const whole = { position: "", includeRecords: false, includeCursor: false, ...request };
    return readerOf<WatchMessage>(service.watchRecords(call, whole, signal));
  };
  const scope = { workspace: "default", writer: { user: "tester", agent: "" } };
  const write = (name: string, body = "") =>
    stack.storage.change(scope, name, () => ({ kind: "put", fields: decisionFields({ body }) }));
  const writeCursor = () => stack.storage.changeCursor(scope, () => ({ kind: "put", fields: "text" }));
  return { stack, service, timers, watch, write, writeCursor, pages: () => pages };
}

describe("the stream", () => {
  test("says every 15 seconds of silence that it lives, and how far it has come", async () => {
    const { timers, watch, write, writeCursor, pages } = await serviceForTest();
    const reader = watch();
    const { position } = await reader.next();
    expect(timers.delays()).toEqual([15_000]);
    const first = reader.next();
    await turn();
    timers.elapse();
    expect(await first).toEqual({ kind: "heartbeat", position });
    const second = reader.next();
    await writeCursor();
    await until("the cursor was read past", () => pages() === 2);
    timers.elapse();
    const beat = await second;
    expect(beat.kind).toBe("heartbeat");
    expect(beat.position).not.toBe(position);
    const third = reader.next();
    await write("a");
    expect((await third).kind).toBe("change");
    expect(timers.delays()).toEqual([15_000]);
    await reader.leave();
    expect(timers.delays()).toEqual([]);
  });

  test("reads and keeps nothing for a reader that stalls, who is then told all 5,000 writes", async () => {
    const { watch, write, pages, timers } = await serviceForTest();
    const reader = watch({ includeRecords: true });
    await reader.next();
    await write("first");
    await reader.next();
    const pagesBefore = pages();
    const names = oneTo(100).map((n) => `n-${n}`);
    for (const _ of oneTo(50)) await Promise.all(names.map((name) => write(name, "x".repeat(1_000))));
    expect(pages()).toBe(pagesBefore);
    expect(timers.delays().length).toBeLessThanOrEqual(1);
    const told = await reader.take(5_000);
    const revisions = told.map((message) => (message.kind === "change" ? message.change.revision : 0));
    expect(revisions).toEqual(oneTo(5_000).map((n) => n + 1));
    expect(pages() - pagesBefore).toBeGreaterThanOrEqual(50);
    await reader.leave();
  });

  test("lets others run while a reader catches up", async () => {
    const { watch, write } = await serviceForTest();
    const reader = watch({ position: ".0" });
    const names = oneTo(100).map((n) => `n-${n}`);
    for (const _ of oneTo(10)) await Promise.all(names.map((name) => write(name)));
    let turns = 0;
    const count = (): void => {
      turns += 1;
      handle = setImmediate(count);
    };
    let handle = setImmediate(count);
    await reader.take(1_001);
    clearImmediate(handle);
    expect(turns).toBeGreaterThanOrEqual(10);
    await reader.leave();
  });

  test("ends with what the caller was aborted for, also while nobody asks for more", async () => {
    const { service, watch, timers } = await serviceForTest();
    const controller = new AbortController();
    const [waiting, idle] = [watch({}, controller.signal), watch({}, controller.signal)];
    await Promise.all([waiting.next(), idle.next()]);
    expect(service.openWatches()).toBe(2);
    const next = waiting.next();
    controller.abort(new Error("gone"));
    expect([service.openWatches(), timers.delays()]).toEqual([0, []]);
    await expect(next).rejects.toThrow("gone");
    await expect(idle.next()).rejects.toThrow("gone");
    await expect(watch({}, controller.signal).next()).rejects.toThrow("gone");
    expect(service.openWatches()).toBe(0);
  });

  test("ends with unavailable when the service closes, and then begins no more", async () => {
    const { service, watch, write } = await serviceForTest();
    const [waiting, lagging] = [watch(), watch()];
    await Promise.all([waiting.next(), lagging.next()]);
    const next = waiting.next();
    await write("a");
    await next;
    const last = waiting.next();
    service.close();
    const stopped = { code: "unavailable", reason: "STOPPING" };
    await expect(last).rejects.toMatchObject(stopped);
    await expect(lagging.next()).rejects.toMatchObject(stopped);
    await expect(watch().next()).rejects.toMatchObject(stopped);
    expect(service.openWatches()).toBe(0);
  });

  test("is one of at most 64; one that ended makes room for another", async () => {
    const { service, watch } = await serviceForTest();
    const readers = oneTo(64).map(() => watch());
    await Promise.all(readers.map((reader) => reader.next()));
    const refusal = { code: "resource_exhausted", reason: "TOO_MANY_WATCHES" };
    await expect(watch().next()).rejects.toMatchObject(refusal);
    expect(service.openWatches()).toBe(64);
    await readers[0]?.leave();
    const another = watch();
    expect((await another.next()).kind).toBe("ready");
    await expect(watch({ position: "zzz" }).next()).rejects.toMatchObject({ code: "invalid_argument" });
    await Promise.all([another, ...readers].map((reader) => reader.leave()));
    expect(service.openWatches()).toBe(0);
  });
});

describe("a watch in process", () => {
  test("that is broken off counts no more", async () => {
    const { app } = await doorForTest("SQLite in memory");
    const records = createClient(RecordService, app.transport);
    const controller = new AbortController();
    const reader = readerOf(records.watchRecords({}, { signal: controller.signal }));
    await reader.next();
    expect(app.openWatches()).toBe(1);
    const next = reader.next();
    controller.abort();
    const error = await next.catch((thrown: unknown) => thrown);
    expect(ConnectError.from(error).code).toBe(Code.Canceled);
    expect(app.openWatches()).toBe(0);
  });

  test("ends with unavailable when memoryd closes", async () => {
    const { app, close } = await doorForTest("SQLite in memory");
    const reader = readerOf(createClient(RecordService, app.transport).watchRecords({}));
    await reader.next();
    const refusal = refusalOf(reader.next());
    await close();
    expect(await refusal).toEqual({ code: "unavailable", reason: "STOPPING" });
  });

  test("ends at the deadline of its call", async () => {
    const { records } = await stackForTest("SQLite in memory");
    const reader = readerOf(records.watchRecords({}, { timeoutMs: 300 }));
    await reader.next();
    const error = await reader.next().catch((thrown: unknown) => thrown);
    expect(ConnectError.from(error).code).toBe(Code.DeadlineExceeded);
  });
});
