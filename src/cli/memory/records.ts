/**
 * What the memory commands share: the client of the daemon (started when none runs), all pages of the list,
 * and errors in the words of the command line. What a record looks like is in `view.ts`.
 */
import { type CallOptions, ConnectError } from "@connectrpc/connect";
import { Option } from "commander";
import { createMemorydClients, type MemorydClients } from "../../client/clients.js";
import { ensureDaemon } from "../../client/ensure.js";
import { conflictFromError, jsonFromConflict, type RecordMessage } from "../../client/record-json.js";
import { invalidArgument, MemorydError } from "../../kernel/errors.js";
import { isSlug } from "../../memory/model.js";
import { preconditionFrom, preconditionMetadata } from "../../memory/precondition.js";
import { memorydErrorFromConnect } from "../../wire/received.js";
import type { Invocation } from "../command.js";
import type { Shown } from "../failure.js";
import { conflictText } from "./view.js";

export type MemoryClient = MemorydClients["memory"];

const skippedMetadata = "memoryd-skipped-records";
export const updateTimeMetadata = "memoryd-update-time";
const sayAfterMs = 1_000;

/** What to say where the daemon speaks of fields of its messages. */
const hints: Readonly<Record<string, string>> = {
  put: "There is no such record here; leave out --no-create to make it, or correct the name.",
  delete: "There is no such record here; correct the name, or add --allow-missing.",
};

/** The daemon's error with what is stored now, and with the command's own options in its sentence. */
function translated(error: ConnectError, command: string): MemorydError {
  const conflict = conflictFromError(error);
  const current: Shown | undefined =
    conflict === undefined ? undefined : { lines: conflictText(conflict), json: jsonFromConflict(conflict) };
  const received = memorydErrorFromConnect(error, current);
  const hint = received.reason === "RECORD_NOT_FOUND" ? hints[command] : undefined;
  if (hint === undefined) return received;
  const { code, reason, metadata } = received;
  return new MemorydError(code, hint, { reason, metadata, cause: error });
}

/** Runs `use` on the daemon of the configuration, which is started when there is none. */
export async function withMemory(
  invocation: Invocation,
  command: string,
  use: (memory: MemoryClient) => Promise<void>,
): Promise<void> {
  const { config, output } = invocation;
  const slow = setTimeout(() => {
    if (output.isErrorTerminal) output.note(output.errorPaint.dim("Starting the daemon …"));
  }, sayAfterMs);
  try {
    using daemon = await ensureDaemon({ config: config() }).finally(() => clearTimeout(slow));
    await use(createMemorydClients(daemon.transport).memory);
  } catch (error) {
    throw error instanceof ConnectError ? translated(error, command) : error;
  }
}

export type Page = { readonly records: readonly RecordMessage[]; readonly skipped: number };

/** The pages of the list, each when it is asked for. */
export async function* pagesOf(memory: MemoryClient, pageSize = 0): AsyncGenerator<Page> {
  let pageToken = "";
  do {
    let skipped = 0;
    const onHeader = (header: Headers): void => {
      skipped = Number(header.get(skippedMetadata) ?? 0);
    };
    const { memories, nextPageToken } = await memory.listMemories({ pageSize, pageToken }, { onHeader });
    yield { records: memories, skipped };
    pageToken = nextPageToken;
  } while (pageToken !== "");
}

/** The record's name as it was typed, refused before anybody is asked. */
export function nameFrom(text: string | undefined): string {
  if (text !== undefined && isSlug(text)) return text;
  const description =
    "must be lower-case letters and digits in words joined by single hyphens, 1 to 128 characters";
  throw invalidArgument([{ field: "NAME", description }]);
}

export const ifUpdateTimeOption = (help: string): Option => new Option("--if-update-time <time>", help);

/** The metadata of a write that must meet what `--if-update-time` says. */
export function preconditionOf({ text }: Invocation): CallOptions {
  const value = text("ifUpdateTime");
  if (value === undefined) return {};
  try {
    preconditionFrom(value);
  } catch {
    const description =
      "must be the update time that you have seen, such as 2026-03-04T05:06:07.089Z, or absent";
    throw invalidArgument([{ field: "--if-update-time", description }]);
  }
  return { headers: { [preconditionMetadata]: value } };
}
