/**
 * The use case of a watch (memory.md M57): a stream of the changes of one workspace that can be resumed. It
 * reads them from the port by position when its reader asks for the next one, so a slow reader lags, and
 * nothing is kept for it. Knows no wire and no engine.
 *
 * | a stream | begins with |
 * | --- | --- |
 * | without a position, or with one that can be resumed | ready |
 * | with any other position | reset, at where the workspace stands now |
 */
import { setImmediate } from "node:timers/promises";
import { assertRight } from "../kernel/caller.js";
import { MemorydError } from "../kernel/errors.js";
import { limits } from "./model.js";
import { type Position, textFromPosition } from "./position.js";
import { type Call, createScopes } from "./service-call.js";
import { type Schedule, timerSchedule } from "./stall.js";
import type { MemoryScope } from "./storage.js";
import type { Change, ChangesRequest, WatchStorage } from "./storage-watch.js";
import { createWakes, type Wakes } from "./wakes.js";
import { currentPosition, positionFromText, resumedPosition } from "./watch-position.js";

export type WatchRequest = {
  /** Where an earlier stream stopped; empty begins with the next change. */
  readonly position: string;
  readonly includeRecords: boolean;
  readonly includeCursor: boolean;
};

export type WatchEvent =
  | { readonly kind: "ready" | "heartbeat" | "reset" }
  | { readonly kind: "change"; readonly change: Change };

/** `position` is where a later stream resumes after this message. */
export type WatchMessage = WatchEvent & { readonly position: string };

export type WatchOptions = {
  /** The workspace of calls that name none; a slug. */
  readonly defaultWorkspace: string;
};

export type WatchService = {
  /**
   * Goes on until the signal aborts, whose reason it throws, or the service closes. The watch counts as open
   * from the first message asked for until then, or until the iterator is returned.
   */
  readonly watchRecords: (
    call: Call,
    request: WatchRequest,
    signal?: AbortSignal,
  ) => AsyncIterable<WatchMessage>;
  readonly openWatches: () => number;
  /** Ends all watches with `unavailable` and begins no more. */
  readonly close: () => void;
};

const heartbeatMs = 15_000;

const stopping = (): MemorydError =>
  new MemorydError("unavailable", "The daemon is stopping; resume from the last position when it is back.", {
    reason: "STOPPING",
  });

const tooManyWatches = (): MemorydError =>
  new MemorydError(
    "resource_exhausted",
    `This daemon has ${limits.openWatches} open watches, the most it may have; end one and try again.`,
    { reason: "TOO_MANY_WATCHES" },
  );

export function createWatchService(
  storage: WatchStorage,
  { defaultWorkspace }: WatchOptions,
  schedule: Schedule = timerSchedule,
): WatchService {
  const scopeOf = createScopes(defaultWorkspace);
  const open = new Set<Wakes>();
  let isClosed = false;

  /** Opens a watch; answers how to close it, which an abort does too, also while no reader asks for more. */
  const enter = (scope: MemoryScope, wakes: Wakes, signal: AbortSignal | undefined): (() => void) => {
    if (isClosed) throw stopping();
    if (open.size >= limits.openWatches) throw tooManyWatches();
    signal?.throwIfAborted();
    open.add(wakes);
    const forget = storage.onWrite(scope, wakes.ring);
    const leave = (): void => {
      signal?.removeEventListener("abort", leave);
      wakes.end(signal?.reason);
      forget();
      open.delete(wakes);
    };
    signal?.addEventListener("abort", leave);
    return leave;
  };

  async function* messages(
    scope: MemoryScope,
    asked: Position | undefined,
    include: Omit<ChangesRequest, "after">,
    wakes: Wakes,
  ): AsyncGenerator<WatchMessage> {
    const first = await storage.getStanding(scope);
    const resumed = asked === undefined ? currentPosition(first) : resumedPosition(asked, first);
    let at = resumed ?? currentPosition(first);
    const sending = (event: WatchEvent): WatchMessage => {
      wakes.throwIfEnded();
      wakes.sent();
      return { ...event, position: textFromPosition(at) };
    };
    yield sending({ kind: resumed === undefined ? "reset" : "ready" });
    for (let hasMore = true; ; ) {
      if (hasMore) {
        // A stream that catches up lets others run between its pages.
        await setImmediate();
        wakes.throwIfEnded();
      } else if ((await wakes.next()) === "break the silence") {
        yield sending({ kind: "heartbeat" });
        continue;
      }
      const page = await storage.changesAfter(scope, { after: at.position, ...include });
      const from = resumedPosition(at, page.standing);
      if (from === undefined) {
        at = currentPosition(page.standing);
        yield sending({ kind: "reset" });
        hasMore = true;
        continue;
      }
      for (const change of page.changes) {
        at = { ...from, position: change.revision };
        yield sending({ kind: "change", change });
      }
      at = { ...from, position: page.upTo };
      hasMore = page.standing !== undefined && page.upTo < page.standing.position;
    }
  }

  return {
    async *watchRecords(call, request, signal) {
      assertRight(call.caller, "read");
      const scope = scopeOf(call);
      const asked = positionFromText(request.position);
      const include = { withRecords: request.includeRecords, withCursor: request.includeCursor };
      const wakes = createWakes(heartbeatMs, schedule);
      const leave = enter(scope, wakes, signal);
      try {
        yield* messages(scope, asked, include, wakes);
      } finally {
        leave();
      }
    },
    openWatches: () => open.size,
    close: () => {
      isClosed = true;
      for (const wakes of open) wakes.end(stopping());
    },
  };
}
