/**
 * Writes that are decided and not made (memory.md M89, `dry_run`): each decision sees what is stored and what
 * the ones before it would have written, so that a rehearsal answers what the real thing would.
 */
import type { Clock } from "../kernel/clock.js";
import { noExtra } from "./extra.js";
import type { RecordFields, StoredCursor } from "./model.js";
import type { MemoryScope, MemoryStorage } from "./storage.js";
import type { Decision, Room, Stored } from "./upsert.js";

/** The part of the port that writes records and the cursor. */
export type Writes = Pick<MemoryStorage, "change" | "changeCursor">;

const keep = { kind: "keep" } as const;

/** Stands for the storage in one rehearsal of one workspace. */
export function createRehearsal(storage: Writes, clock: Clock): Writes {
  const records = new Map<string, Stored>();
  let cursor: StoredCursor | undefined;
  let addedRecords = 0;
  /** One decision at a time, so that each sees the one before. */
  let last: Promise<unknown> = Promise.resolve();

  const inTurn = <T>(step: () => Promise<T>): Promise<T> => {
    const next = last.then(step, step);
    // Whoever asked for a step is told of its fault; the next one goes on all the same.
    last = next.catch(() => {});
    return next;
  };

  const roomAfter = (room: Room): Room => ({
    recordCount: room.recordCount + addedRecords,
    otherWorkspaces: records.size > 0 || cursor !== undefined ? undefined : room.otherWorkspaces,
  });

  const factsOf = ({ writer }: MemoryScope, updatedMs: number) => ({ updatedMs, revision: 0, writer });

  const change = async (
    scope: MemoryScope,
    name: string,
    decide: (stored: Stored | undefined, room: Room) => Decision<RecordFields>,
  ): Promise<Stored | undefined> => {
    let before: Stored | undefined;
    let decision: Decision<RecordFields> = keep;
    await storage.change(scope, name, (stored, room) => {
      before = records.get(name) ?? stored;
      decision = decide(before, roomAfter(room));
      return keep;
    });
    const made = decision as Decision<RecordFields>;
    if (made.kind !== "put") return before;
    const { fields, origin } = made;
    const updatedMs = origin?.updatedMs ?? clock.nowMs();
    if (before === undefined) addedRecords += 1;
    const record: Stored = {
      readable: true,
      name,
      ...fields,
      extra: origin?.extra ?? noExtra,
      createdMs: origin?.createdMs ?? updatedMs,
      ...factsOf(scope, updatedMs),
    };
    records.set(name, record);
    return record;
  };

  const changeCursor: Writes["changeCursor"] = async (scope, decide) => {
    let before: StoredCursor | undefined;
    let decision: Decision<string> = keep;
    await storage.changeCursor(scope, (stored, room) => {
      before = cursor ?? stored;
      decision = decide(before, roomAfter(room));
      return keep;
    });
    const made = decision as Decision<string>;
    if (made.kind !== "put") return before;
    cursor = { content: made.fields, ...factsOf(scope, clock.nowMs()) };
    return cursor;
  };

  return {
    change: (scope, name, decide) => inTurn(() => change(scope, name, decide)),
    changeCursor: (scope, decide) => inTurn(() => changeCursor(scope, decide)),
  };
}
