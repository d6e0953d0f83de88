/**
 * The working tree as the memory domain looks refs up in it: `memory/tree.ts` on `node:fs` (memory.md
 * M70–M76). It stands beside the storages because it is the other half of what a domain is handed.
 *
 * A file is found by `walk`, opened without following a last link and without waiting (a pipe would), and
 * before a byte of it is read both the open file and a second walk must show the same device and inode; what
 * changes in between is looked at again.
 */
import { type BigIntStats, constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { isAbsolute, parse } from "node:path";
import type { Clock } from "../kernel/clock.js";
import type { Sees, Sight, TreeBudget, TreeReader, Wanted } from "../memory/tree.js";
import { digestOf, hasWord } from "./tree-content.js";
import { createDigests } from "./tree-digests.js";
import { kindOfFailure, systemFiles, type TreeFiles, type Walked, walk } from "./tree-walk.js";

const maxFilesAtOnce = 4;
/** Larger files are compared by their size alone (M76). */
const maxReadBytes = 8 * 1024 * 1024;
/** How often a place is looked at again that changes while it is looked at. */
const maxAttempts = 3;

// Windows knows neither; there is no pipe in its folders to wait for, and its links need a right.
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

const isSameFile = (a: BigIntStats, b: BigIntStats): boolean => a.dev === b.dev && a.ino === b.ino;

type Content = Buffer<ArrayBuffer>;

const wordAnswers = { there: "there", missing: "missing" } as const;

/** A question that a file's bytes must be read for, with its answer as text so that it can be remembered. */
type Question = {
  readonly key: string;
  /** `undefined` when nobody waits for it any longer. */
  readonly answer: (content: Content, isOver: () => boolean) => Promise<string | undefined>;
};

function questionOf(wanted: Wanted, bytes: number): Question | undefined {
  if (wanted.kind === "presence") return undefined;
  if (wanted.kind === "word") {
    const { word } = wanted;
    return {
      key: `word ${word}`,
      answer: async (content, isOver) => {
        const isThere = await hasWord(content, word, isOver);
        return isThere === undefined ? undefined : wordAnswers[isThere ? "there" : "missing"];
      },
    };
  }
  const isPointless = wanted.onlyIfBytes !== undefined && wanted.onlyIfBytes !== bytes;
  return isPointless ? undefined : { key: "digest", answer: digestOf };
}

function sightWith(wanted: Wanted, bytes: number, answer: string): Sight {
  return wanted.kind === "word"
    ? { kind: "file", bytes, hasWord: answer === wordAnswers.there }
    : { kind: "file", bytes, sha256: answer };
}

/** Runs at most so many jobs at once, the others in their order. */
function createLanes(count: number) {
  const waiting: (() => void)[] = [];
  let free = count;
  return async <T>(job: () => Promise<T>): Promise<T> => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => void waiting.push(resolve));
    try {
      return await job();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}

async function readBytes(file: FileHandle, bytes: number): Promise<Content> {
  const content = Buffer.allocUnsafe(bytes);
  let length = 0;
  while (length < bytes) {
    const { bytesRead } = await file.read(content, length, bytes - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return content.subarray(0, length);
}

type Spending = { readonly take: (bytes: number) => boolean; readonly isOver: () => boolean };

function createSpending({ maxBytes, maxMs }: TreeBudget): Spending {
  const deadlineMs = performance.now() + maxMs;
  let leftBytes = maxBytes;
  return {
    isOver: () => leftBytes < 0 || performance.now() >= deadlineMs,
    take(bytes) {
      leftBytes -= bytes;
      return leftBytes >= 0;
    },
  };
}

export type TreeReaderOptions = { readonly clock: Clock; readonly files?: TreeFiles };

export function createTreeReader({ clock, files = systemFiles }: TreeReaderOptions): TreeReader {
  const digests = createDigests(clock);
  const inLane = createLanes(maxFilesAtOnce);

  /** The bytes of the file that was walked to; `undefined` when it is no longer what stands there. */
  const readWalked = async (
    root: string,
    parts: readonly string[],
    walked: Extract<Walked, { readonly kind: "at" }>,
  ): Promise<Content | undefined> => {
    const file = await files.open(walked.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const opened = await file.stat({ bigint: true });
      const again = await walk(files, root, parts);
      const isStill =
        again.kind === "at" && isSameFile(opened, walked.status) && isSameFile(opened, again.status);
      return isStill ? await readBytes(file, Number(opened.size)) : undefined;
    } finally {
      await file.close();
    }
  };

  const lookOnce = async (
    root: string,
    parts: readonly string[],
    wanted: Wanted,
    spending: Spending,
  ): Promise<Sight | "changed"> => {
    const walked = await walk(files, root, parts);
    if (walked.kind !== "at") return { kind: walked.kind };
    const { status } = walked;
    if (status.isDirectory()) return { kind: "folder" };
    if (!status.isFile()) return { kind: "not_regular" };
    const bytes = Number(status.size);
    const question = questionOf(wanted, bytes);
    if (question === undefined) return { kind: "file", bytes };
    if (bytes > maxReadBytes) return wanted.kind === "word" ? { kind: "too_large" } : { kind: "file", bytes };
    const known = digests.get(status, question.key);
    if (known !== undefined) return sightWith(wanted, bytes, known);
    if (!spending.take(bytes)) return { kind: "budget" };
    const content = await readWalked(root, parts, walked);
    if (content === undefined || content.length !== bytes) return "changed";
    const answer = await question.answer(content, spending.isOver);
    if (answer === undefined) return { kind: "budget" };
    digests.note(status, question.key, answer);
    return sightWith(wanted, bytes, answer);
  };

  const look = async (
    root: string,
    parts: readonly string[],
    wanted: Wanted,
    spending: Spending,
  ): Promise<Sight> => {
    for (let attempt = 0; attempt < maxAttempts && !spending.isOver(); attempt += 1) {
      try {
        const sight = await lookOnce(root, parts, wanted, spending);
        if (sight !== "changed") return sight;
      } catch (error) {
        // A link or nothing where a file was a moment ago: looked at again, it shows itself as what it is.
        if (kindOfFailure(error) === "unreadable") return { kind: "unreadable" };
      }
    }
    return { kind: spending.isOver() ? "budget" : "unreadable" };
  };

  const isThere = async (root: string): Promise<boolean> => {
    try {
      return (
        (await files.realpath(root)) === root && (await files.lstat(root, { bigint: true })).isDirectory()
      );
    } catch {
      // Whatever keeps us from the root, its refs cannot be told from missing ones.
      return false;
    }
  };

  return {
    async realFolder(path) {
      if (!isAbsolute(path) || path.includes("\0")) return undefined;
      try {
        const real = await files.realpath(path);
        const isFolder = (await files.lstat(real, { bigint: true })).isDirectory();
        return isFolder && real !== parse(real).root ? real : undefined;
      } catch {
        // Absent, no folder or closed to us: none of them can be a root.
        return undefined;
      }
    },

    async within(rootPath, budget, use) {
      const spending = createSpending(budget);
      let timer: NodeJS.Timeout | undefined;
      // A look may hang in the system for ever; the caller goes on without it.
      const late = new Promise<Sight>((resolve) => {
        timer = setTimeout(() => resolve({ kind: "budget" }), budget.maxMs);
      });
      const sees: Sees = (parts, wanted) => {
        if (spending.isOver()) return Promise.resolve({ kind: "budget" });
        return Promise.race([late, inLane(() => look(rootPath, parts, wanted, spending))]);
      };
      try {
        const there = await Promise.race([late, isThere(rootPath)]);
        if (there === false) return undefined;
        return await use(sees);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
