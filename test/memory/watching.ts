/** Reading a stream of changes in tests: message by message, and in short. */
import { expect } from "vitest";
import type { WatchRecordsResponse } from "../../gen/memoryd/records/v1/records_pb.js";
import { ChangeKind } from "../../gen/memoryd/records/v1/records_pb.js";

/** A message as `ready`, `reset`, `heartbeat`, `created a`, `updated (cursor)`. */
export function briefOf({ event }: WatchRecordsResponse): string {
  if (event.case !== "change") return event.case ?? expect.fail("a message says nothing");
  const { kind, name, cursor } = event.value;
  return `${ChangeKind[kind]?.toLowerCase()} ${cursor ? "(cursor)" : name}`;
}

export type Reader<Message> = {
  /** The next message. Fails when the stream has ended. */
  readonly next: () => Promise<Message>;
  /** The next so many. */
  readonly take: (count: number) => Promise<Message[]>;
  /** Lets go of the stream, as `break` in a loop does. */
  readonly leave: () => Promise<void>;
};

export function readerOf<Message>(stream: AsyncIterable<Message>): Reader<Message> {
  const iterator = stream[Symbol.asyncIterator]();
  const next = async (): Promise<Message> => {
    const result = await iterator.next();
    return result.done === true ? expect.fail("the stream has ended") : result.value;
  };
  return {
    next,
    take: async (count) => {
      const messages: Message[] = [];
      while (messages.length < count) messages.push(await next());
      return messages;
    },
    leave: async () => {
      await iterator.return?.();
    },
  };
}

/** Timers that only go off by hand. */
export function createHandSchedule() {
  const waiting = new Map<() => void, number>();
  return {
    schedule: (callback: () => void, delayMs: number) => {
      waiting.set(callback, delayMs);
      return () => void waiting.delete(callback);
    },
    /** The delays of the timers that run. */
    delays: () => [...waiting.values()],
    /** Lets all of them go off. */
    elapse: () => {
      for (const callback of [...waiting.keys()]) {
        waiting.delete(callback);
        callback();
      }
    },
  };
}
