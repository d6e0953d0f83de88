/**
 * Everything that memoryd prints: the only home of writing to stdout and stderr (daemon.md D1). Stdout gets
 * the answer and nothing else; what is said beside it goes to stderr. Colours are for terminals alone, and
 * `NO_COLOR` turns them off.
 */
import type { Writable } from "node:stream";
import pc from "picocolors";
import { visibleJson } from "./visible.js";

export type Paint = ReturnType<typeof pc.createColors>;

/** A stream that may be a terminal. */
export type Sink = Writable & { readonly isTTY?: boolean | undefined; readonly columns?: number | undefined };

/** The reader of stdout went away, as `head` does: no fault, and nothing is left to be said. */
export class ReaderGone extends Error {
  override readonly name = "ReaderGone";
}

export type Output = {
  /** Whether a person reads stdout, so that stored text must be made visible. */
  readonly isTerminal: boolean;
  readonly isErrorTerminal: boolean;
  /** Characters in a line of the terminal; `undefined` when there is none. */
  readonly columns: number | undefined;
  /** For stdout. */
  readonly paint: Paint;
  /** For stderr. */
  readonly errorPaint: Paint;
  /** Text for stdout as it is; rejects with {@link ReaderGone} when nobody reads any more. */
  readonly write: (text: string) => Promise<void>;
  /** One JSON document and a line break on stdout. */
  readonly json: (value: unknown) => Promise<void>;
  /** Lines for stderr. */
  readonly note: (text: string) => void;
  /** Resolves when all that was written is on its way. */
  readonly flush: () => Promise<void>;
};

const isReaderGone = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "EPIPE" || error.code === "EOF");

/** Settles when the stream took the text; a reader that left is told apart from a fault. */
function writeTo(sink: Sink, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    sink.write(text, (error) => {
      if (error === null || error === undefined) resolve();
      else reject(isReaderGone(error) ? new ReaderGone() : error);
    });
  });
}

const paintFor = (sink: Sink): Paint => pc.createColors(pc.isColorSupported && sink.isTTY === true);

/** JSON for the stream that will carry it: a terminal gets escapes for what it would obey or hide. */
export const jsonFor = (isTerminal: boolean, value: unknown): string => {
  const json = JSON.stringify(value);
  return isTerminal ? visibleJson(json) : json;
};

export function createOutput(stdout: Sink = process.stdout, stderr: Sink = process.stderr): Output {
  // A failed write is told to who wrote; the event as well would end the process.
  for (const sink of [stdout, stderr]) sink.on("error", () => {});
  const isTerminal = stdout.isTTY === true;
  const write = (text: string): Promise<void> => writeTo(stdout, text);
  return {
    isTerminal,
    isErrorTerminal: stderr.isTTY === true,
    columns: isTerminal ? stdout.columns : undefined,
    paint: paintFor(stdout),
    errorPaint: paintFor(stderr),
    write,
    json: (value) => write(`${jsonFor(isTerminal, value)}\n`),
    // There is no better place to say that stderr cannot be written.
    note: (text) => void writeTo(stderr, `${text}\n`).catch(() => {}),
    flush: async () => {
      await Promise.allSettled([writeTo(stdout, ""), writeTo(stderr, "")]);
    },
  };
}
