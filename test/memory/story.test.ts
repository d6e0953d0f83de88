/**
 * Any order of calls on the door against a model that keeps records in a map: what is answered, what is
 * refused and with which code, and what a list shows in the end (memory.md M20–M35, M39, M40).
 */

import { create, toJson } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Memory, MemorySchema } from "../../gen/magus/memory/v1/memory_pb.js";
import {
  type RecordFields,
  type RecordInput,
  type SettableField,
  settableFields,
  wholeViolations,
} from "../../src/memory/model.js";
import { trimWhitespace } from "../../src/memory/text.js";
import { anyInput, legalFields } from "./arbitrary.js";
import { createTestClock, engines, useDoor } from "./door.js";
import { refusalOf } from "./errors.js";
import { calling, createdMs, updatedMs } from "./records.js";

type Kept = { readonly fields: RecordFields; readonly createdMs: number; readonly updatedMs: number };
type Time = "none" | "absent" | "current" | "old";

type Action =
  | {
      readonly kind: "update";
      readonly name: string;
      readonly fields: RecordFields;
      readonly mask: readonly SettableField[] | undefined;
      readonly allowMissing: boolean;
      readonly time: Time;
    }
  | { readonly kind: "delete"; readonly name: string; readonly allowMissing: boolean; readonly time: Time }
  | { readonly kind: "clock"; readonly stepMs: number };

const name = fc.constantFrom("a", "a-b", "a0");
const time = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Time>("none") },
  fc.constantFrom<Time>("absent", "current", "old"),
);
const anyAction: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("update" as const),
      name,
      fields: legalFields,
      mask: fc.option(fc.subarray([...settableFields], { minLength: 1 }), { nil: undefined }),
      allowMissing: fc.boolean(),
      time,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("delete" as const), name, allowMissing: fc.boolean(), time }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("clock" as const), stepMs: fc.integer({ min: -5, max: 5 }) }),
  },
);

const messageOf = (record: string, { type, refs, status, body, references }: RecordFields) => ({
  name: record,
  type,
  refs: refs.map(({ kind, target }) => ({ kind, target })),
  status,
  body,
  references: [...references],
});

/** What the rules make of the records that are kept. */
function createModel() {
  const kept = new Map<string, Kept>();
  const newest = new Map<string, number>();

  const fits = (record: Kept | undefined, wanted: Time): boolean =>
    wanted === "none" ||
    (wanted === "absent" && record === undefined) ||
    (wanted === "current" && record !== undefined);

  /** The next time of a name: the clock's, or a millisecond after the newest that it had. */
  const timeAt = (record: string, nowMs: number): number => {
    const atMs = Math.max(nowMs, (newest.get(record) ?? Number.NEGATIVE_INFINITY) + 1);
    newest.set(record, atMs);
    return atMs;
  };

  const update = (action: Action & { kind: "update" }, nowMs: number): Kept | string => {
    const { fields, mask, allowMissing } = action;
    const record = kept.get(action.name);
    if (record === undefined && !allowMissing) return "not_found";
    const named = mask === undefined || record === undefined ? settableFields : mask;
    const merged = Object.assign(
      { ...(record?.fields ?? fields) },
      ...named.map((field) => ({ [field]: fields[field] })),
    );
    const isWhole = merged.type !== 1 || merged.body === "";
    const isReplay = isWhole && JSON.stringify(merged) === JSON.stringify(record?.fields);
    if (!fits(record, action.time)) return isReplay && record !== undefined ? record : "aborted";
    if (!isWhole) return "invalid_argument";
    const updatedMs = timeAt(action.name, nowMs);
    const next = { fields: merged, createdMs: record?.createdMs ?? updatedMs, updatedMs };
    kept.set(action.name, next);
    return next;
  };

  const remove = (action: Action & { kind: "delete" }, nowMs: number): string => {
    const record = kept.get(action.name);
    if (action.time === "absent") return "invalid_argument";
    if (record === undefined) return action.allowMissing ? "ok" : "not_found";
    if (!fits(record, action.time)) return "aborted";
    kept.delete(action.name);
    timeAt(action.name, nowMs);
    return "ok";
  };

  return { kept, update, remove };
}

const isoOf = (atMs: number): string => new Date(atMs).toISOString();
const timeIn = (memory: Memory | undefined) => ({
  createdMs: createdMs(memory),
  updatedMs: updatedMs(memory),
});

type MemoryInit = ReturnType<typeof messageOf>;

/** What a caller set of a record. */
function plain(memory: Memory | MemoryInit | undefined): unknown {
  const message = create(MemorySchema, memory ?? expect.fail("the answer holds no record"));
  const {
    createTime: _created,
    updateTime: _updated,
    ...rest
  } = toJson(MemorySchema, message) as Record<string, unknown>;
  return rest;
}

let runs = 0;

describe.each(engines)("on %s", (engine) => {
  const clock = createTestClock();
  const door = useDoor(engine, { clock });

  test("any order of calls is answered as the rules have it", async () => {
    const story = async (actions: readonly Action[]): Promise<void> => {
      runs += 1;
      const workspace = `story-${runs}`;
      const model = createModel();
      const { client } = door();
      let nowMs = 1_000_000;
      const options = (record: string, wanted: Time) => {
        const current = isoOf(model.kept.get(record)?.updatedMs ?? 0);
        const ifUpdateTime = { none: undefined, absent: "absent", current, old: isoOf(1) }[wanted];
        return calling(ifUpdateTime === undefined ? { workspace } : { workspace, ifUpdateTime });
      };
      for (const action of actions) {
        if (action.kind === "clock") {
          nowMs += action.stepMs;
          continue;
        }
        clock.set(nowMs);
        const call = options(action.name, action.time);
        if (action.kind === "delete") {
          const expected = model.remove(action, nowMs);
          const answer = client.deleteMemory({ name: action.name, allowMissing: action.allowMissing }, call);
          if (expected === "ok") await answer;
          else expect((await refusalOf(answer)).code).toBe(expected);
          continue;
        }
        const expected = model.update(action, nowMs);
        const { mask, allowMissing } = action;
        const memory = messageOf(action.name, action.fields);
        const request = {
          memory,
          allowMissing,
          ...(mask === undefined ? {} : { updateMask: { paths: [...mask] } }),
        };
        const answer = client.updateMemory(request, call);
        if (typeof expected === "string") expect((await refusalOf(answer)).code).toBe(expected);
        else {
          const stored = (await answer).memory;
          expect(plain(stored)).toEqual(plain(messageOf(action.name, expected.fields)));
          expect(expected).toMatchObject(timeIn(stored));
        }
      }
      const { memories } = await client.listMemories({}, calling({ workspace }));
      const listed = memories.map((memory) => [memory.name, timeIn(memory).updatedMs]);
      expect(listed).toEqual([...model.kept].map(([key, { updatedMs }]) => [key, updatedMs]).sort());
      for (const memory of memories) {
        const fields = model.kept.get(memory.name)?.fields ?? expect.fail("a record came from nowhere");
        expect(plain(memory)).toEqual(plain(messageOf(memory.name, fields)));
      }
    };
    await fc.assert(fc.asyncProperty(fc.array(anyAction, { minLength: 3, maxLength: 25 }), story), {
      numRuns: 60,
    });
  });

  test("any record is refused with nothing written, or answered and listed as it was sent, trimmed", async () => {
    const check = async (input: RecordInput): Promise<void> => {
      runs += 1;
      const options = calling({ workspace: `record-${runs}` });
      const { client } = door();
      clock.set(undefined);
      const sent = messageOf(input.name, input as RecordFields);
      const answer = client.updateMemory({ memory: sent, allowMissing: true }, options);
      const isName = /^[a-z0-9]+(-[a-z0-9]+)*$/.test(input.name);
      if (!isName || wholeViolations(input).length > 0) {
        expect((await refusalOf(answer)).code).toBe("invalid_argument");
        expect((await client.listMemories({}, options)).memories).toEqual([]);
        return;
      }
      const { memory } = await answer;
      expect(plain(memory)).toEqual(plain({ ...sent, body: trimWhitespace(sent.body) }));
      expect((await client.listMemories({}, options)).memories).toEqual([memory]);
    };
    await fc.assert(fc.asyncProperty(anyInput, check), { numRuns: 150 });
  });
});
