/** What every engine hands to `app.ts`: the storage of each domain, and what the daemon asks of them together. */
import type { MemoryStorage } from "../memory/storage.js";

export type Storages = {
  readonly engine: "sqlite";
  readonly memory: MemoryStorage;
  /** Throws `unavailable` unless data can be read and written now. */
  readonly check: () => Promise<void>;
  /** Bytes that the data takes. */
  readonly sizeBytes: () => number;
  /** Writes that wait for their commit. */
  readonly queueDepth: () => number;
  /** Calls back with the number of writes that shared a commit. */
  readonly onBatch: (listener: (jobs: number) => void) => void;
  /** Answers the writes that wait, then lets go of the data; nothing may be asked of a storage afterwards. */
  readonly close: () => Promise<void>;
};
