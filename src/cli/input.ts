/**
 * Text that a command is given in a file or on stdin: read whole, up to a size that nothing legal exceeds, and
 * never repaired. What it means is the command's business.
 */
import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import { invalidArgument, MemorydError } from "../kernel/errors.js";
import { maxRequestBytes } from "../kernel/limits.js";
import { visibleLine } from "./visible.js";

/** A stream that may be a terminal. */
export type Source = Readable & { readonly isTTY?: boolean | undefined };

/** Stands for stdin where a file is named. */
export const standardInput = "-";

export type Input = {
  /** Whether a person would have to type it. */
  readonly isTerminal: boolean;
  /** The text of `file`, or of stdin for `-`; `option` names in errors what it was given for. */
  readonly read: (file: string, option: string) => Promise<string>;
};

const refused = (option: string, description: string): MemorydError =>
  invalidArgument([{ field: option, description }]);

async function readAll(stream: Readable, option: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxRequestBytes) throw refused(option, `is given more than ${maxRequestBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function textFrom(bytes: Buffer, option: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw refused(option, "is given bytes that are not UTF-8; convert them first");
  }
}

const whyUnreadable: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EACCES: "it may not be read",
  EISDIR: "it is a folder",
};

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "unknown fault";

export function createInput(stdin: Source): Input {
  return {
    isTerminal: stdin.isTTY === true,
    async read(file, option) {
      try {
        const stream = file === standardInput ? stdin : createReadStream(file);
        return textFrom(await readAll(stream, option), option);
      } catch (error) {
        if (error instanceof MemorydError) throw error;
        const code = codeOf(error);
        throw refused(
          option,
          `names ${visibleLine(file)}, which cannot be read: ${whyUnreadable[code] ?? code}`,
        );
      }
    },
  };
}
