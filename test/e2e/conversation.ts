/**
 * What every client must be able to do, through any protocol: each of the five RPCs answered and refused, text
 * unharmed, metadata both ways, error details, and what a conflict carries (MV42).
 */
import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { type Answer, type Door, type Metadata, type MethodName, type Refusal, refusalOf } from "./door.js";

export type ConversationOptions = {
  /** Plain gRPC carries details in a trailer, which must stay short (M41). */
  readonly cutsConflicts?: boolean;
  /** Why the client cannot be had here, when it cannot. */
  readonly skipped?: string | undefined;
};

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** Bytes that a client or a proxy might be tempted to repair. */
const oddText = " Schlüssel\t→ 鍵 🔑\r\n\u{feff}e\u0301 ";

const decision = (name: string, rest: JsonObject = {}): JsonObject => ({
  name,
  type: "MEMORY_TYPE_DECISION",
  refs: [{ kind: "MEMORY_REF_KIND_NODE", target: `file:src/${name}.ts` }],
  ...rest,
});

type Calls = {
  readonly ok: (method: MethodName, message: JsonObject, metadata?: Metadata) => Promise<Answer>;
  readonly refused: (method: MethodName, message: JsonObject, metadata?: Metadata) => Promise<Refusal>;
};

/** Calls in a workspace that nobody else uses. */
function inNewWorkspace(door: Door): Calls {
  const workspace = { "memoryd-workspace": `e2e-${randomUUID()}` };
  const ok: Calls["ok"] = (method, message, metadata = {}) =>
    door.call(method, message, { ...workspace, ...metadata });
  return { ok, refused: (...call) => refusalOf(ok(...call)) };
}

async function answerEach({ ok }: Calls): Promise<void> {
  expect((await ok("ListMemories", {})).message).toEqual({});
  expect((await ok("GetCursor", {})).message).toEqual({});

  const sent = decision("cache-key", { status: "open", body: oddText, references: ["a-name", "a-name"] });
  const created = (await ok("UpdateMemory", { memory: sent, allowMissing: true })).message
    .memory as JsonObject;
  const { createTime, updateTime } = created;
  expect(createTime).toMatch(rfc3339);
  expect(created).toEqual({ ...sent, body: oddText.trim(), createTime, updateTime: createTime });
  expect((await ok("ListMemories", { pageSize: 1 })).message).toEqual({ memories: [created] });

  const partial = { memory: { name: "cache-key", status: "done" }, updateMask: "status" };
  const condition = { "memoryd-if-update-time": String(updateTime) };
  const changed = (await ok("UpdateMemory", partial, condition)).message.memory as JsonObject;
  expect(changed).toEqual({ ...created, status: "done", updateTime: changed.updateTime });
  expect(changed.updateTime).not.toBe(updateTime);

  const written = await ok("UpdateCursor", { content: oddText });
  expect(written.message).toEqual({ content: oddText });
  expect(written.metadata("memoryd-update-time")).toMatch(rfc3339);
  const read = await ok("GetCursor", {});
  expect(read.message).toEqual({ content: oddText });
  expect(read.metadata("memoryd-update-time")).toBe(written.metadata("memoryd-update-time"));

  expect((await ok("DeleteMemory", { name: "cache-key" })).message).toEqual({});
  expect((await ok("ListMemories", {})).message).toEqual({});
}

async function refuseEach({ refused, ok }: Calls): Promise<void> {
  const list = await refused("ListMemories", { pageSize: -1 });
  expect([list.code, list.fields]).toEqual(["invalid_argument", ["page_size"]]);

  await ok("UpdateMemory", { memory: decision("cache-key-plan"), allowMissing: true });
  const update = await refused("UpdateMemory", { memory: decision("cache-key-plam") });
  expect(update.code).toBe("not_found");
  expect(update.info).toEqual({
    reason: "RECORD_NOT_FOUND",
    domain: "memoryd",
    metadata: { nearest: "cache-key-plan" },
  });

  const remove = await refused("DeleteMemory", { name: "Not a slug" });
  expect([remove.code, remove.fields]).toEqual(["invalid_argument", ["name"]]);
  expect(remove.message).not.toContain("Not a slug");

  const get = await refused("GetCursor", {}, { "memoryd-workspace": "A b" });
  expect([get.code, get.fields]).toEqual(["invalid_argument", ["memoryd-workspace"]]);

  const cursor = await refused("UpdateCursor", { content: "bell \u0007" });
  expect([cursor.code, cursor.fields]).toEqual(["invalid_argument", ["content"]]);
  expect((await ok("GetCursor", {})).message).toEqual({});
}

async function conflict({ refused, ok }: Calls, cutsConflicts: boolean): Promise<void> {
  const body = "x".repeat(60_000);
  const memory = decision("long", { body, references: ["other"] });
  const stored = (await ok("UpdateMemory", { memory, allowMissing: true })).message.memory as JsonObject;
  const stale = { "memoryd-if-update-time": "2001-02-03T04:05:06.789Z" };
  const refusal = await refused("UpdateMemory", { memory: { ...memory, body: "shorter" } }, stale);
  expect([refusal.code, refusal.info?.reason]).toEqual(["aborted", "STALE_UPDATE_TIME"]);
  const { record, truncated } = refusal.conflict as { record: { memory: JsonObject }; truncated?: boolean };
  const { body: _body, refs: _refs, ...short } = stored;
  expect(truncated ?? false).toBe(cutsConflicts);
  // Compared by length first: nobody wants to read 60,000 characters of a failure.
  expect(String(record.memory.body ?? "").length).toBe(cutsConflicts ? 0 : body.length);
  expect(record.memory).toEqual(cutsConflicts ? short : stored);
}

/** The tests of one client; call it inside a `describe` that names the client and how it comes in. */
export function conversation(open: () => Door | Promise<Door>, options: ConversationOptions = {}): void {
  const talk = (sentence: string, body: (calls: Calls) => Promise<void>): void => {
    test(sentence, async (context) => {
      if (options.skipped !== undefined) context.skip(options.skipped);
      await body(inNewWorkspace(await open()));
    });
  };
  const { cutsConflicts = false } = options;
  talk("is answered by each of the five RPCs", answerEach);
  talk("is refused by each of them with a code, a reason and the field", refuseEach);
  talk(
    cutsConflicts
      ? "gets what is stored with a conflict, without what is too long for a trailer (MV42)"
      : "gets all that is stored with a conflict (MV42)",
    (calls) => conflict(calls, cutsConflicts),
  );
}
