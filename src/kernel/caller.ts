/**
 * Who is asking: resolved once a request by the server and passed to every service (daemon.md D26), so
 * that no service reads headers. Each right includes the ones before it (D20).
 */
import { MemorydError } from "./errors.js";

export const rights = ["read", "write", "admin"] as const;

export type Right = (typeof rights)[number];

export type Caller = {
  readonly user: string;
  /** The agent that acts for the user; absent when none does. */
  readonly agent?: string;
  readonly right: Right;
};

/** Throws `permission_denied` when the caller's right is smaller than `needed`. */
export function assertRight(caller: Caller, needed: Right): void {
  if (rights.indexOf(caller.right) >= rights.indexOf(needed)) return;
  throw new MemorydError(
    "permission_denied",
    `This call needs the right ${needed}; ask for a token that has it.`,
  );
}
