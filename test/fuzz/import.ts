/**
 * Throws damaged and random files at the importer: none may crash it or take long, what is refused must not be
 * quoted, and what is taken must be written as a file that reads as the same record.
 *
 *     npx tsx test/fuzz/import.ts [inputs]
 *
 * 100,000 inputs unless told otherwise. MEMORYD_TEST_SEED repeats a run; a fault is printed with its file.
 */
import { fileFromRecord, type RecordFile } from "../../src/memory/files-format.js";
import { readRecordFile } from "../../src/memory/files-read.js";
import { earlierTool, refusedFiles, textOf } from "../memory/files.js";
import { createSeeded, seedOfRun } from "../support/seeded.js";

const inputs = Number(process.argv[2] ?? 100_000);
/** On a busy machine; none took a tenth of it. */
const maxMs = 5_000;
const maxCharacters = 4_000;
const maxDamages = 4;
const rarely = 500;

const { below } = createSeeded(seedOfRun(`fuzzing the importer with ${inputs} inputs`));

const pick = <T>(items: readonly T[]): T => items[below(items.length)] as T;

type Whole = { readonly path: string; readonly text: string };

const wholeFrom = (files: Readonly<Record<string, string>>): readonly Whole[] =>
  Object.entries(files).map(([path, text]) => ({ path, text }));

/** Files that are whole, to be damaged; those that are read stand here twice. */
const whole: readonly Whole[] = [
  ...wholeFrom(earlierTool.files),
  ...wholeFrom(earlierTool.files),
  ...wholeFrom(earlierTool.writtenBack),
  ...wholeFrom(earlierTool.writtenBack),
  ...refusedFiles
    .map(({ path, content }) => ({ path, text: textOf(content) }))
    .filter(({ text }) => text.length < maxCharacters),
];

/** What YAML has a meaning for, and what text has trouble with. */
const pieces: readonly string[] = [
  ..."-?:,[]{}#&*!|>'\"%@`~=<\\\t\r\n \u0000\u0085\u00a0\u2028\ufeff\uffff\u{1f600}\u001b",
  ...[
    "---",
    "...",
    "\r\n",
    "- ",
    "? ",
    ": ",
    "|2-\n",
    ">+\n",
    "<<",
    "&a",
    "*a",
    "!!str ",
    "!t ",
    "%YAML 1.2\n",
  ],
  ...[
    "name: ",
    "type: plan\n",
    "refs:\n",
    "  - kind: doc\n",
    "    target: x\n",
    "created: 1\n",
    "updated_ms: 1\n",
  ],
  ...[
    '"\\u0000"',
    '"\\ud800"',
    '"\\x41"',
    "0x1F",
    "1e999",
    ".inf",
    ".nan",
    "~",
    "null",
    "yes",
    "1.10",
    "__proto__: {}\n",
  ],
];

const someText = (): string => Array.from({ length: below(40) }, () => pick(pieces)).join("");

function damaged(text: string): string {
  // Mostly behind the first mark, without which nothing is read.
  const first = below(10) === 0 ? 0 : Math.min(text.length, 4);
  const at = first + below(text.length - first + 1);
  const end = Math.min(text.length, at + below(30));
  const [before, between, after] = [text.slice(0, at), text.slice(at, end), text.slice(end)];
  switch (below(6)) {
    case 0:
      return before + pick(pieces) + after;
    case 1:
      return before + pick(pieces) + between + after;
    case 2:
      return before + between.repeat(1 + below(4)) + after;
    case 3:
      return before + pick(whole).text.slice(below(200)) + after;
    case 4:
      return before.split("\n").toReversed().join("\n") + after;
    default:
      return before + pick(pieces).repeat(below(rarely) === 0 ? 50_000 : 1 + below(50)) + after;
  }
}

const otherPaths = ["records/a.md", "a.md", "cursor.md", "records/cursor.md", "../a.md"];

function someFile(): RecordFile {
  const { path, text } = below(20) === 0 ? { path: "a.md", text: `---\n${someText()}\n---\n` } : pick(whole);
  let content = text;
  for (let left = below(maxDamages); left > 0; left -= 1) content = damaged(content);
  const bytes = Buffer.from(content, "utf8");
  if (below(50) === 0 && bytes.length > 0) bytes[below(bytes.length)] = below(256);
  return { path: below(10) === 0 ? pick(otherPaths) : path, content: bytes };
}

/** A sentence of ours is plain ASCII, and lacks the word that stands for what is stored. */
const isOurs = (message: string): boolean => /^[ -~]+$/.test(message) && !message.includes("SECRET");

/** What is wrong with how the file is read; `undefined` when nothing is. */
function faultOf(file: RecordFile): string | undefined {
  const startMs = performance.now();
  const read = readRecordFile(file);
  const tookMs = performance.now() - startMs;
  if (tookMs > maxMs) return `it took ${Math.round(tookMs)} ms`;
  if (read.kind === "refused") {
    return isOurs(read.message) ? undefined : `its refusal says ${read.message}`;
  }
  if (read.kind === "cursor") return undefined;
  const { name, fields, extra, createdMs = 0, updatedMs = 0 } = read;
  const written = fileFromRecord({ name, ...fields, extra, createdMs, updatedMs });
  const again = readRecordFile(written);
  const expected = { kind: "record", name, fields, extra, createdMs, updatedMs };
  return JSON.stringify(again) === JSON.stringify(expected)
    ? undefined
    : `it reads as ${JSON.stringify(expected)} and then as ${JSON.stringify(again)}`;
}

const start = performance.now();
const counts: Record<string, number> = {};
for (let done = 0; done < inputs; done += 1) {
  const file = someFile();
  let fault: string | undefined;
  try {
    fault = faultOf(file);
    const read = readRecordFile(file);
    const kind = read.kind === "refused" ? read.reason : read.kind;
    counts[kind] = (counts[kind] ?? 0) + 1;
  } catch (error) {
    fault = `it threw ${String(error)}`;
  }
  if (fault === undefined) continue;
  const content = Buffer.from(file.content).toString("base64");
  process.stdout.write(`${JSON.stringify({ done, path: file.path, fault, content }, null, 2)}\n`);
  process.exit(1);
}
process.stdout.write(`${JSON.stringify(counts)}\n`);
process.stdout.write(`no fault in ${Math.round((performance.now() - start) / 1000)} s\n`);
