/**
 * `memoryd memory watch`: the changes of a workspace as they happen, a line each, until Ctrl-C. When the daemon
 * goes away, the watch waits for one and resumes where it was; it starts none, so that a stop stays a stop.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { ConnectError } from "@connectrpc/connect";
import { Option } from "commander";
import { createMemorydClients } from "../../client/clients.js";
import { ensureDaemon } from "../../client/ensure.js";
import { type Daemon, findDaemon } from "../../client/find.js";
import { createPlacedTransport, type PlacedOptions } from "../../client/placed.js";
import { jsonFromWatch, type WatchMessage } from "../../client/record-json.js";
import { findWorkspace } from "../../client/workspace.js";
import type { Config } from "../../config/load.js";
import { isMemorydError, MemorydError } from "../../kernel/errors.js";
import { jitter } from "../../kernel/ids.js";
import { changeKinds } from "../../memory/schema.js";
import { memorydErrorFromConnect } from "../../wire/received.js";
import type { CommandSpec, Invocation } from "../command.js";
import { listenForInterrupt } from "../interrupt.js";
import { callSettings } from "../options.js";
import type { Output, Paint } from "../output.js";
import { visibleLine } from "../visible.js";
import { kindText, writerText } from "./history.js";
import type { RecordsClient } from "./records.js";
import { recordText, timeText } from "./view.js";

/** The daemon is heard of every 15 seconds; a connection that is silent for so long is dead. */
const maxSilenceMs = 60_000;
const firstPauseMs = 200;
const longestPauseMs = 2_000;

type WatchRequest = Parameters<RecordsClient["watchRecords"]>[0];
type ChangeMessage = Extract<WatchMessage["event"], { case: "change" }>["value"];

const brokenOff = (): MemorydError =>
  new MemorydError("unavailable", "The daemon ended the watch; resume it from its last position.", {
    reason: "CALL_BROKEN_OFF",
  });

/** Hands on the messages until the watch ends, and answers what ended it; lets go of the daemon. */
async function follow(
  daemon: Daemon,
  place: PlacedOptions,
  request: WatchRequest,
  signal: AbortSignal,
  onMessage: (message: WatchMessage) => Promise<void>,
): Promise<MemorydError> {
  using attached = daemon;
  const attempt = new AbortController();
  const giveUp = (): void => attempt.abort();
  const silence = setTimeout(giveUp, maxSilenceMs);
  signal.addEventListener("abort", giveUp);
  if (signal.aborted) giveUp();
  try {
    const { records } = createMemorydClients(createPlacedTransport(attached.transport, place));
    for await (const message of records.watchRecords(request, { signal: attempt.signal })) {
      silence.refresh();
      await onMessage(message);
    }
    return brokenOff();
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    return memorydErrorFromConnect(error);
  } finally {
    clearTimeout(silence);
    signal.removeEventListener("abort", giveUp);
  }
}

/** The daemon of the configuration once there is one; `undefined` when the signal aborts first. */
async function whenBack(config: Config, signal: AbortSignal): Promise<Daemon | undefined> {
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 1.5, longestPauseMs)) {
    await sleep(pauseMs * (0.5 + jitter()), undefined, { signal }).catch(() => {});
    if (signal.aborted) return undefined;
    try {
      const daemon = await findDaemon(config);
      if (daemon !== undefined) return daemon;
    } catch (error) {
      // Nobody answers at the address that was named: not yet.
      if (!isMemorydError(error) || error.code !== "unavailable") throw error;
    }
  }
}

const longestKind = Math.max(...Object.keys(changeKinds).map(({ length }) => length));

function kindCell(kind: number, paint: Paint): string {
  const cell = kindText(kind).padEnd(longestKind);
  if (kind === changeKinds.deleted) return paint.red(cell);
  return kind === changeKinds.created ? paint.green(cell) : paint.yellow(cell);
}

/** One line, and below it the record when it came along. */
function changeText({ kind, name, cursor, time, writer, record }: ChangeMessage, paint: Paint): string {
  const what = cursor ? "(cursor)" : visibleLine(name);
  const line = `${timeText(time)}  ${kindCell(kind, paint)}  ${what}  by ${writerText(writer)}\n`;
  if (record?.memory === undefined) return line;
  return `${line}${recordText(record.memory).replace(/^(?=.)/gm, "    ")}\n`;
}

async function showForPeople({ event }: WatchMessage, output: Output): Promise<void> {
  if (event.case === "change") await output.write(changeText(event.value, output.paint));
  if (event.case === "reset") {
    output.note("What happened before cannot be told any more; memoryd memory ls shows what there is now.");
  }
}

async function watch(invocation: Invocation): Promise<void> {
  const { output, isJson, isSet, text } = invocation;
  const config = invocation.config();
  const found = findWorkspace(config, invocation.environment.workingDir);
  const place = { found, isLocal: config.client.url === undefined };
  const note = (words: string): void => {
    if (!isJson) output.note(words);
  };
  const request = {
    position: text("position") ?? "",
    includeRecords: isSet("records"),
    includeCursor: isSet("cursor"),
  };
  const progress = { hasBegun: false, isLost: false };
  const onMessage = async (message: WatchMessage): Promise<void> => {
    request.position = message.position;
    if (progress.isLost) note("The daemon is back; the watch goes on.");
    if (!progress.hasBegun && output.isErrorTerminal) note("Watching; Ctrl-C ends it.");
    Object.assign(progress, { hasBegun: true, isLost: false });
    if (!isJson) await showForPeople(message, output);
    else if (message.event.case !== "heartbeat") await output.json(jsonFromWatch(message));
  };
  let daemon: Daemon | undefined = await ensureDaemon({ config });
  using interrupt = listenForInterrupt();
  const { signal } = interrupt;
  for (; daemon !== undefined; daemon = await whenBack(config, signal)) {
    const failure = await follow(daemon, place, request, signal, onMessage);
    if (signal.aborted) break;
    if (!progress.hasBegun || failure.code !== "unavailable") throw failure;
    if (!progress.isLost) note("The daemon went away; the watch goes on when one is back.");
    progress.isLost = true;
  }
  if (output.isErrorTerminal && request.position !== "") {
    note(`\nTo go on from here: memoryd memory watch --position ${visibleLine(request.position)}`);
  }
}

export const watchCommand: CommandSpec = {
  description:
    "Prints each change of a workspace as it happens, once it is on disk, until Ctrl-C. It survives a restart " +
    "of the daemon and misses nothing. With --json each line is a message of WatchRecords, whose position " +
    "--position takes; a message that says reset means that something was missed: list the records again.",
  options: [
    new Option("--position <position>", "Go on after this position, and not with the next change"),
    new Option("--records", "Also show each record as it was written"),
    new Option("--cursor", "Also tell of changes of the cursor"),
  ],
  settings: callSettings,
  examples: [
    ["memoryd memory watch", "Who writes what, as it happens"],
    ["memoryd memory watch --records --json | jq -c .change.record.memory", "Each record as it was written"],
  ],
  run: async (invocation) => {
    await watch(invocation);
    return undefined;
  },
};
