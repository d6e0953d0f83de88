/**
 * The file of the unix socket (daemon.md D3): in a folder of our own (0700), itself 0600. The socket of a
 * dead daemon is replaced; what is not a socket, or answers, is left alone. The caller already owns the
 * instance, so nobody else binds the same path meanwhile.
 */
import { chmodSync, lstatSync, mkdirSync, type Stats, statSync, unlinkSync } from "node:fs";
import { connect } from "node:net";
import { dirname } from "node:path";
import { MemorydError } from "../kernel/errors.js";

const folderMode = 0o700;
const socketMode = 0o600;
const probeTimeoutMs = 1_000;

const refused = (message: string, reason: string, cause?: unknown): MemorydError =>
  new MemorydError("unavailable", message, { reason, cause });

const linkOrFileAt = (path: string): Stats | undefined => lstatSync(path, { throwIfNoEntry: false });

/** Whether somebody accepts connections there. */
function answers(file: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(file);
    const settle = (isAnswered: boolean): void => {
      socket.destroy();
      resolve(isAnswered);
    };
    // One that neither accepts nor refuses in time has a full queue, and so an owner.
    socket.setTimeout(probeTimeoutMs, () => settle(true));
    socket.once("connect", () => settle(true)).once("error", () => settle(false));
  });
}

/** Makes the folder when it is missing, and shuts others out of it. Neither it nor a link to it may be theirs. */
function prepareFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: folderMode });
  const stat = statSync(folder);
  const userId = process.getuid?.();
  if (stat.uid !== userId || linkOrFileAt(folder)?.uid !== userId) {
    throw refused(
      `The folder ${folder} of the socket belongs to somebody else; remove it, or start with --no-socket.`,
      "SOCKET_FOLDER_FOREIGN",
    );
  }
  if ((stat.mode & 0o077) !== 0) chmodSync(folder, folderMode);
}

/** Leaves `file` free to be bound. Throws `unavailable` when that would take something from somebody. */
export async function prepareSocketFile(file: string): Promise<void> {
  prepareFolder(dirname(file));
  const stat = linkOrFileAt(file);
  if (stat === undefined) return;
  if (!stat.isSocket()) {
    throw refused(
      `${file} is in the way of the socket and is none; move it, or start with --no-socket.`,
      "SOCKET_PATH_TAKEN",
    );
  }
  if (await answers(file)) {
    throw refused(
      `Another program serves the socket ${file}; stop it, or start with --no-socket.`,
      "SOCKET_TAKEN",
    );
  }
  unlinkSync(file);
}

/** To be called as soon as the socket is bound; its folder keeps others out until then. */
export const closeSocketFile = (file: string): void => chmodSync(file, socketMode);
