/**
 * What the memory commands share: the client of the daemon (started when none runs), all pages of the list,
 * and errors in the words of the command line. What a record looks like is in `view.ts`.
 */
import { type CallOptions, ConnectError } from "@connectrpc/connect";
import { Option } from "commander";
import { createMemorydClients, type MemorydClients } from "../../client/clients.js";
import { ensureDaemon } from "../../client/ensure.js";
import { createPlacedTransport } from "../../client/placed.js";
import { conflictFromError, jsonFromConflict, type RecordMessage } from "../../client/record-json.js";
import { findWorkspace } from "../../client/workspace.js";
import { invalidArgument, MemorydError } from "../../kernel/errors.js";
import { assertValid, slugViolations } from "../../memory/model.js";
import { preconditionFrom, preconditionMetadata } from "../../memory/precondition.js";
import { memorydErrorFromConnect } from "../../wire/received.js";
import type { Invocation } from "../command.js";
import type { Shown } from "../failure.js";
import { conflictText } from "./view.js";

export type MemoryClient = MemorydClients["memory"];
export type RecordsClient = MemorydClients["records"];

const skippedMetadata = "memoryd-skipped-records";
export const updateTimeMetadata = "memoryd-update-time";
export const recordNotFoundReason = "RECORD_NOT_FOUND";
const sayAfterMs = 1_000;

/** The daemon's error with what is stored now; `absent` speaks of the command's options where it has fields. */
function translated(error: ConnectError, absent: string | undefined): MemorydError {
  const conflict = conflictFromError(error);
  const current: Shown | undefined =
    conflict === undefined ? undefined : { lines: conflictText(conflict), json: jsonFromConflict(conflict) };
  const received = memorydErrorFromConnect(error, current);
  const { code, reason, metadata } = received;
  if (absent === undefined || reason !== recordNotFoundReason) return received;
  return new MemorydError(code, absent, { reason, metadata, cause: error });
}

/**
 * Runs `use` on the daemon of the configuration, which is started when there is none, in the workspace of the
 * folder that the command runs in. `absent` is the sentence for a record that is not there.
 */
export async function withClients(
  { config: load, output, environment }: Invocation,
  use: (clients: MemorydClients) => Promise<void>,
  absent?: string,
): Promise<void> {
  const config = load();
  const found = findWorkspace(config, environment.workingDir);
  const isLocal = config.client.url === undefined;
  const slow = setTimeout(() => {
    if (output.isErrorTerminal) output.note(output.errorPaint.dim("Starting the daemon …"));
  }, sayAfterMs);
  try {
    using daemon = await ensureDaemon({ config }).finally(() => clearTimeout(slow));
    await use(createMemorydClients(createPlacedTransport(daemon.transport, { found, isLocal })));
  } catch (error) {
    throw error instanceof ConnectError ? translated(error, absent) : error;
  }
}

export const withMemory = (
  invocation: Invocation,
  use: (memory: MemoryClient) => Promise<void>,
  absent?: string,
): Promise<void> => withClients(invocation, ({ memory }) => use(memory), absent);

export const withRecords = (
  invocation: Invocation,
  use: (records: RecordsClient) => Promise<void>,
  absent?: string,
): Promise<void> => withClients(invocation, ({ records }) => use(records), absent);

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
  const name = text ?? "";
  assertValid(slugViolations("NAME", name));
  return name;
}

/** The sentence for a record that a command reads. */
export const absentRecord = (name: string): string =>
  `There is no record ${name} here; memoryd memory ls lists those there are.`;

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
