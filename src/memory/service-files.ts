/**
 * The use cases on files: export of a workspace as it is at one moment, and import file by file (memory.md M58,
 * M87–M89). Knows no wire and no engine, and touches no disk: files come and go as bytes.
 */
import { setImmediate } from "node:timers/promises";
import { assertRight } from "../kernel/caller.js";
import type { Clock } from "../kernel/clock.js";
import { invalidArgument, MemorydError } from "../kernel/errors.js";
import { compareUtf8 } from "../kernel/utf8.js";
import {
  createFilesDigest,
  fileFromCursor,
  fileFromRecord,
  inPathOrder,
  type RecordFile,
} from "./files-format.js";
import {
  type ImportMode,
  type ImportVerdict,
  importModes,
  importOutcomes,
  type Judged,
  judgeCursor,
  judgeRecord,
} from "./files-import.js";
import { type ReadFile, readRecordFile } from "./files-read.js";
import { assertValid, limits, slugViolations } from "./model.js";
import { textFromPosition } from "./position.js";
import { createRehearsal, type Writes } from "./rehearsal.js";
import { nameNotFound } from "./revision.js";
import { assertNoPrecondition, type Call, createNearest, createScopes } from "./service-call.js";
import { endingWhenStalled, type Schedule, timerSchedule } from "./stall.js";
import type { MemoryScope, MemoryStorage } from "./storage.js";
import type { Outline } from "./storage-files.js";
import type { Caps } from "./upsert.js";

export type FilesOptions = Caps & {
  /** The workspace of calls that name none; a slug. */
  readonly defaultWorkspace: string;
};

export type ExportSummary = {
  readonly recordCount: number;
  readonly digest: string;
  readonly position: string;
  /** Names whose rows no longer read as records, in byte order. */
  readonly unreadable: readonly string[];
};

export type ExportPart =
  | { readonly kind: "file"; readonly file: RecordFile }
  | { readonly kind: "summary"; readonly summary: ExportSummary };

export type ImportRequest = {
  readonly files: readonly RecordFile[];
  /** A number of `importModes`, or 0 for the first. */
  readonly mode: number;
  readonly isDryRun: boolean;
};

export type ImportResult = ImportVerdict & {
  readonly path: string;
  /** Empty for the cursor, and for a path that names no record. */
  readonly name: string;
};

export type FilesService = {
  /** The files in byte order of their paths, then the summary. */
  readonly exportRecords: (
    call: Call,
    request: { readonly names: readonly string[]; readonly skipCursor: boolean },
  ) => AsyncIterable<ExportPart>;
  /** A result for each file, in their order; ends between files when the signal aborts. */
  readonly importRecords: (
    call: Call,
    request: ImportRequest,
    signal?: AbortSignal,
  ) => Promise<readonly ImportResult[]>;
};

const stallLimitMs = 30_000;
/** States asked for at once; the storage answers as many as it likes. */
const askedStates = 200;
/** Files that are written together, so that they share a commit, a transaction each. */
const filesAtOnce = 50;
/** So much is read as YAML before others are let run. */
const bytesInTurn = 32_768;

const overtaken = (): MemorydError =>
  new MemorydError(
    "unavailable",
    "The workspace changed more during the export than history keeps; export it again.",
    { reason: "EXPORT_OVERTAKEN" },
  );

function modeFrom(mode: number): ImportMode {
  const known = Object.values(importModes).find((value) => value === (mode || importModes.skipExisting));
  if (known !== undefined) return known;
  throw invalidArgument([{ field: "mode", description: "must be skip existing, keep newer or replace" }]);
}

export function createFilesService(
  storage: MemoryStorage,
  { defaultWorkspace, ...caps }: FilesOptions,
  clock: Clock,
  schedule: Schedule = timerSchedule,
): FilesService {
  const scopeOf = createScopes(defaultWorkspace);
  const withNearest = createNearest(storage);

  const outlineOf = async (scope: MemoryScope, names: readonly string[]): Promise<Outline> => {
    if (names.length === 0) return storage.outline(scope, undefined);
    const wanted = [...new Set(names)].sort(compareUtf8);
    const outline = await storage.outline(scope, wanted);
    const found = new Set(outline.items.map(({ name }) => name));
    const absent = wanted.find((name) => !found.has(name));
    if (absent !== undefined) await withNearest(scope, absent, Promise.reject(nameNotFound()));
    return outline;
  };

  async function* exported(call: Call, names: readonly string[], skipCursor: boolean) {
    assertRight(call.caller, "read");
    const scope = scopeOf(call);
    if (names.length > limits.exportNames) {
      throw invalidArgument([
        { field: "names", description: `must hold at most ${limits.exportNames} names; none asks for all` },
      ]);
    }
    assertValid(names.flatMap((name, index) => slugViolations(`names[${index}]`, name)));
    const outline = await outlineOf(scope, names);
    const digest = createFilesDigest();
    const part = (file: RecordFile): ExportPart => {
      digest.add(file);
      return { kind: "file", file };
    };
    let recordCount = 0;
    const unreadable: string[] = [];
    if (!skipCursor && outline.cursor !== undefined) yield part(fileFromCursor(outline.cursor));
    const items = [...inPathOrder(outline.items, ({ name }) => name)];
    for (let at = 0; at < items.length; ) {
      const states = await storage.statesAt(scope, items.slice(at, at + askedStates));
      at += states.length;
      for (const state of states) {
        if (state === undefined) throw overtaken();
        if (!state.readable) unreadable.push(state.name);
        else {
          recordCount += 1;
          yield part(fileFromRecord(state));
        }
      }
    }
    const summary: ExportSummary = {
      recordCount,
      digest: digest.hex(),
      position: textFromPosition(outline),
      unreadable: unreadable.sort(compareUtf8),
    };
    yield { kind: "summary", summary } as const;
  }

  /** What the file says is written, or refused with nothing written. */
  const importFile = async (
    writes: Writes,
    scope: MemoryScope,
    file: ReadFile,
    mode: ImportMode,
  ): Promise<ImportVerdict> => {
    if (file.kind === "refused") {
      return { outcome: importOutcomes.refused, reason: file.reason, message: file.message };
    }
    let judged: Judged<unknown> | undefined;
    const noting = <Fields>(value: Judged<Fields>) => {
      judged = value;
      return value.decision;
    };
    if (file.kind === "cursor") {
      const judge = judgeCursor(file, { mode, caps });
      await writes.changeCursor(scope, (stored, room) => noting(judge(stored, room)));
    } else {
      const judge = judgeRecord(file, { mode, caps, nowMs: clock.nowMs() });
      await writes.change(scope, file.name, (stored, room) => noting(judge(stored, room)));
    }
    if (judged === undefined) throw new Error("a write was answered without its decision");
    return judged.verdict;
  };

  const readFiles = async (files: readonly RecordFile[]): Promise<ReadFile[]> => {
    const read: ReadFile[] = [];
    let bytes = 0;
    for (const file of files) {
      read.push(readRecordFile(file));
      bytes += file.content.length;
      if (bytes < bytesInTurn) continue;
      bytes = 0;
      await setImmediate();
    }
    return read;
  };

  return {
    exportRecords: (call, { names, skipCursor }) =>
      endingWhenStalled(exported(call, names, skipCursor), stallLimitMs, schedule),

    async importRecords(call, request, signal) {
      assertRight(call.caller, "write");
      const scope = scopeOf(call);
      assertNoPrecondition(call.ifUpdateTime);
      if (request.files.length > limits.importFiles) {
        throw invalidArgument([
          {
            field: "files",
            description: `must hold at most ${limits.importFiles} files; send the rest after`,
          },
        ]);
      }
      const mode = modeFrom(request.mode);
      const writes = request.isDryRun ? createRehearsal(storage, clock) : storage;
      const results: ImportResult[] = [];
      for (let at = 0; at < request.files.length; at += filesAtOnce) {
        signal?.throwIfAborted();
        const files = request.files.slice(at, at + filesAtOnce);
        const read = await readFiles(files);
        const verdicts = await Promise.all(read.map((file) => importFile(writes, scope, file, mode)));
        for (const [index, verdict] of verdicts.entries()) {
          const [file, { path = "" } = {}] = [read[index], files[index]];
          results.push({
            path,
            name: file === undefined || file.kind === "cursor" ? "" : file.name,
            ...verdict,
          });
        }
      }
      return results;
    },
  };
}
