/**
 * What clients asked for and what was acknowledged, as they saw it. Each record has one writer, who waits for
 * each answer, so its writes have an order; a workspace's cursor is written by many at once.
 */
import { createHash } from "node:crypto";

/** One write: a `text` of its own, by which all that belongs to it is told from every other write. */
export type Write = {
  readonly workspace: string;
  /** The record; empty for the cursor. */
  readonly name: string;
  /** `undefined` for a delete. */
  readonly text: string | undefined;
};

export type Acknowledged = Write & {
  /** As it was answered; a delete has none. */
  readonly updateTimeMs: number | undefined;
};

export type Ledger = {
  /** Notes that a write is under way; call what comes back when it was answered. */
  readonly begin: (write: Write) => (updateTimeMs: number | undefined) => void;
  readonly acknowledged: () => readonly Acknowledged[];
  /** Sent and never answered: each may have happened or not. */
  readonly pending: () => readonly Write[];
};

/** A ledger of the time between one start of the daemon and its end. */
export function createLedger(): Ledger {
  const acknowledged: Acknowledged[] = [];
  const pending = new Set<Write>();
  return {
    begin: (write) => {
      pending.add(write);
      return (updateTimeMs) => {
        pending.delete(write);
        acknowledged.push({ ...write, updateTimeMs });
      };
    },
    acknowledged: () => acknowledged,
    pending: () => [...pending],
  };
}

/** All parts of the record that a text stands for; a record with parts of two texts is a half write. */
export function partsOf(text: string) {
  const [refs = 0, links = 0, length = 0] = createHash("sha256").update(text).digest();
  return {
    status: text,
    body: `${text} ${"because ".repeat(length)}`.trimEnd(),
    targets: Array.from({ length: 1 + (refs % 5) }, (_, index) => `file:${text}/${index}`),
    links: Array.from({ length: links % 4 }, (_, index) => `${text}-${index}`),
  };
}
