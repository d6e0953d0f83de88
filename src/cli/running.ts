/**
 * The daemon that runs, for commands that start none, and what its plain HTTP answers mean to them: `/status`,
 * `/stop` and their refusals.
 */
import { Code, ConnectError } from "@connectrpc/connect";
import { errorFromJson } from "@connectrpc/connect/protocol-connect";
import type { Answer } from "../client/call.js";
import { type Daemon, seekDaemon } from "../client/find.js";
import type { Config } from "../config/load.js";
import { MemorydError } from "../kernel/errors.js";
import { memorydErrorFromConnect } from "../wire/received.js";

/** No daemon runs, for commands that start none. */
export const notRunning = (): MemorydError =>
  new MemorydError("unavailable", "No daemon is running here; memoryd serve starts one.", {
    reason: "DAEMON_NOT_RUNNING",
  });

/** The running daemon, `undefined` when there is none; throws when one is there that does not answer. */
export async function findRunning(config: Config): Promise<Daemon | undefined> {
  const finding = await seekDaemon(config);
  if (finding.daemon !== undefined) return finding.daemon;
  if (finding.silent === undefined) return undefined;
  throw new MemorydError(
    "unavailable",
    `The daemon (process ${finding.silent.pid}) does not answer; end that process, and nothing that it has answered is lost.`,
    { reason: "DAEMON_SILENT" },
  );
}

const unexpected = (status: number): MemorydError =>
  new MemorydError(
    "unavailable",
    `The daemon answered with HTTP status ${status}, which memoryd never does; check whose address that is.`,
    { reason: "UNEXPECTED_ANSWER" },
  );

/** The members of the answer's JSON object; throws what the daemon refused with. */
export function membersFrom({ status, body }: Answer): Readonly<Record<string, unknown>> {
  const fallback = new ConnectError("", Code.Unknown);
  try {
    const json = JSON.parse(body);
    if (status >= 300) throw errorFromJson(json, undefined, fallback);
    if (typeof json === "object" && json !== null) return { ...json };
  } catch (error) {
    if (error instanceof ConnectError && error.code !== Code.Unknown) throw memorydErrorFromConnect(error);
  }
  throw unexpected(status);
}

/** What `GET /status` answers. */
export const statusOf = async (daemon: Daemon): Promise<Readonly<Record<string, unknown>>> =>
  membersFrom(await daemon.request("/status"));
