/** What is asked of a file's bytes: their digest, made beside the event loop, and whether they hold a word. */
import { createHash, subtle } from "node:crypto";
import { setImmediate } from "node:timers/promises";

/** Below this a hash is quicker than the way to another thread. */
const smallBytes = 65_536;

/** SHA-256 in hex. */
export async function digestOf(content: Buffer<ArrayBuffer>): Promise<string> {
  if (content.length <= smallBytes) return createHash("sha256").update(content).digest("hex");
  return Buffer.from(await subtle.digest("SHA-256", content)).toString("hex");
}

const wordCharacter = /^[\p{ID_Continue}$]$/u;
const longestCharacterBytes = 4;

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** Whether the character that ends before, or starts at, the byte belongs to a word. */
function isWordBefore(content: Buffer, end: number): boolean {
  let start = end - 1;
  while (start > 0 && end - start < longestCharacterBytes && isContinuation(content[start])) start -= 1;
  return start >= 0 && wordCharacter.test(content.toString("utf8", start, end));
}

function isWordAt(content: Buffer, start: number): boolean {
  let end = start + 1;
  while (end < content.length && end - start < longestCharacterBytes && isContinuation(content[end]))
    end += 1;
  return start < content.length && wordCharacter.test(content.toString("utf8", start, end));
}

const isAsciiWordByte = (byte: number | undefined): boolean =>
  byte !== undefined && byte < 0x80 && wordCharacter.test(String.fromCharCode(byte));
const asciiWordBytes: readonly boolean[] = Array.from({ length: 256 }, (_, byte) => isAsciiWordByte(byte));

/** Where the run of plain word characters ends that the byte stands in. */
function endOfRun(content: Buffer, start: number): number {
  let end = start;
  while (end < content.length && asciiWordBytes[content[end] ?? 0] === true) end += 1;
  return end;
}

/** Places that are looked at before others may run, which takes about a millisecond. */
const placesAtOnce = 1_000;

/**
 * Whether the text has the word with nothing beside it that would make it part of a longer one; `undefined`
 * when `isOver` says that nobody waits any longer.
 */
export async function hasWord(
  content: Buffer,
  word: string,
  isOver: () => boolean,
): Promise<boolean | undefined> {
  const wanted = Buffer.from(word, "utf8");
  let places = 0;
  for (let at = content.indexOf(wanted); at !== -1; ) {
    if (!isWordBefore(content, at) && !isWordAt(content, at + wanted.length)) return true;
    places += 1;
    if (places % placesAtOnce === 0) {
      await setImmediate();
      if (isOver()) return undefined;
    }
    at = content.indexOf(wanted, Math.max(at + 1, endOfRun(content, at)));
  }
  return false;
}
