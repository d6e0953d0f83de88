/**
 * Where log lines go (daemon.md D16): JSON lines on stderr, readable ones on a terminal, or JSON lines in a
 * file that turns over. Never stdout, which belongs to the ready line (D1). An error is written by its name,
 * code, message and stack alone: its other members may hold stored content.
 */
import { basename, dirname } from "node:path";
import { type DestinationStream, destination, type Logger, pino, stdTimeFunctions } from "pino";
import type { Log } from "../kernel/log.js";

export type LogOptions = {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly format: "auto" | "json" | "pretty";
  /** Absolute; `undefined` for stderr. */
  readonly file: string | undefined;
  /** Whether stderr is a terminal, which `auto` makes readable. */
  readonly isTerminal: boolean;
};

export type OpenLog = Log & {
  /** Resolves when every line is where it belongs. */
  readonly close: () => Promise<void>;
};

const stderrDescriptor = 2;
const turnOverAt = "10M";
const keptFiles = 3;
const fileMode = 0o600;
const retryFileAfterMs = 10_000;
const maxCauses = 4;
const secretFields = ["token", "authorization", "key", "content", "body"];

type Sink = DestinationStream & { readonly close: () => Promise<void> };

function describedError(error: unknown, causes = maxCauses): unknown {
  if (!(error instanceof Error)) return typeof error;
  return {
    name: error.name,
    ...("code" in error ? { code: error.code } : {}),
    ...("reason" in error ? { reason: error.reason } : {}),
    message: error.message,
    stack: error.stack,
    ...(error.cause === undefined || causes === 0 ? {} : { cause: describedError(error.cause, causes - 1) }),
  };
}

function openStderr(): Sink {
  const stream = destination({ fd: stderrDescriptor, sync: true });
  // Whoever read our stderr is gone. There is no other place to say so, and serving goes on.
  stream.on("error", () => {});
  return { write: (line) => stream.write(line), close: async () => stream.flushSync() };
}

async function openTerminal(isTerminal: boolean): Promise<Sink> {
  const { default: pretty } = await import("pino-pretty");
  const stream = pretty({
    destination: stderrDescriptor,
    sync: true,
    colorize: isTerminal,
    translateTime: "SYS:HH:MM:ss.l",
    singleLine: true,
  });
  return { write: (line) => void stream.write(line), close: async () => {} };
}

/** A disk that is full or a folder that is gone loses lines, never the daemon; it is tried again later. */
async function openFile(file: string): Promise<Sink> {
  const { createStream } = await import("rotating-file-stream");
  const open = () => {
    const stream = createStream(basename(file), {
      path: dirname(file),
      size: turnOverAt,
      rotate: keptFiles,
      mode: fileMode,
    });
    stream.on("error", () => {
      brokenAtMs = performance.now();
    });
    return stream;
  };
  let brokenAtMs: number | undefined;
  let current = open();
  return {
    write: (line) => {
      if (brokenAtMs !== undefined) {
        if (performance.now() - brokenAtMs < retryFileAfterMs) return;
        brokenAtMs = undefined;
        current = open();
      }
      current.write(line);
    },
    close: () =>
      new Promise((resolve) => {
        if (brokenAtMs !== undefined || current.destroyed) resolve();
        else current.once("close", resolve).end();
      }),
  };
}

export async function openLog({ level, format, file, isTerminal }: LogOptions): Promise<OpenLog> {
  const isPretty = format === "pretty" || (format === "auto" && isTerminal);
  const sink =
    file !== undefined ? await openFile(file) : isPretty ? await openTerminal(isTerminal) : openStderr();
  const logger: Logger = pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: (error: unknown) => describedError(error) },
      redact: { paths: secretFields, censor: "***" },
    },
    sink,
  );
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
    close: sink.close,
  };
}
