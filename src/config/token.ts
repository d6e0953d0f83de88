/**
 * The operator token: 32 random bytes in a file that only its owner can read (daemon.md D20). A file that
 * others can read is refused, because a secret that others had is none. Minted tokens are not made here.
 */
import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { isMemorydError, MemorydError } from "../kernel/errors.js";
import { randomBase64Url } from "../kernel/ids.js";
import { hasFileModes } from "./env.js";
import { createPrivateFile, isAbsence } from "./files.js";

const operatorTokenBytes = 32;
const operatorToken = /^[A-Za-z0-9_-]{43}$/;
const anyToken = /^[\x21-\x7e]{16,512}$/;
/** More than any token needs, so that a wrong path does not pull a huge file into memory. */
const maxFileBytes = 4_096;

function readPrivateLine(file: string): string {
  let descriptor: number;
  try {
    descriptor = openSync(file, "r");
  } catch (cause) {
    if (isAbsence(cause)) {
      throw new MemorydError(
        "not_found",
        `There is no token in ${file}; memoryd serve makes the operator's.`,
        {
          reason: "TOKEN_NOT_FOUND",
          cause,
        },
      );
    }
    throw new MemorydError(
      "failed_precondition",
      `The token in ${file} cannot be read; make it a file of your own.`,
      { reason: "TOKEN_UNREADABLE", cause },
    );
  }
  try {
    const status = fstatSync(descriptor);
    if (!status.isFile()) {
      const message = `${file} is no file that holds a token, but a folder or a device; name another.`;
      throw new MemorydError("failed_precondition", message, { reason: "TOKEN_UNREADABLE" });
    }
    if (hasFileModes && (status.mode & 0o077) !== 0) {
      throw new MemorydError(
        "failed_precondition",
        `Others may read the token in ${file}: run chmod 600 on it, or delete it when they may have.`,
        { reason: "TOKEN_EXPOSED" },
      );
    }
    if (status.size > maxFileBytes) return "";
    return readFileSync(descriptor, "utf8").replace(/\r?\n$/, "");
  } finally {
    closeSync(descriptor);
  }
}

function malformed(file: string, cure: string): MemorydError {
  return new MemorydError("failed_precondition", `${file} does not hold a token; ${cure}.`, {
    reason: "TOKEN_MALFORMED",
  });
}

/** Any token that somebody put into a file: one line, a final line break allowed. */
export function readTokenFile(file: string): string {
  let token: string;
  try {
    token = readPrivateLine(file);
  } catch (error) {
    if (!isMemorydError(error) || error.code !== "not_found") throw error;
    const message = `There is no file ${file}; correct --token-file or MEMORYD_TOKEN_FILE.`;
    throw new MemorydError("not_found", message, { reason: error.reason, cause: error });
  }
  if (anyToken.test(token)) return token;
  throw malformed(file, "write one into it, on a line of its own");
}

/** The operator token; `not_found` when the daemon never ran here, `failed_precondition` when the file is no good. */
export function readOperatorToken(file: string): string {
  const token = readPrivateLine(file);
  if (operatorToken.test(token)) return token;
  throw malformed(file, "delete it, and memoryd serve makes a new one");
}

/** The operator token, made when there is none; callers at the same time get the same one. */
export function ensureOperatorToken(file: string): string {
  try {
    return readOperatorToken(file);
  } catch (error) {
    if (!(error instanceof MemorydError) || error.code !== "not_found") throw error;
  }
  createPrivateFile(file, `${randomBase64Url(operatorTokenBytes)}\n`);
  return readOperatorToken(file);
}
