/**
 * Two texts as one unified diff: which lines went, came and stayed, by the shortest script of edits (Myers'
 * greedy algorithm). Pure. Texts that have too little in common are shown as one replaced by the other, so that
 * time and memory stay small for whatever is stored.
 */

export type DiffLine = { readonly sign: " " | "-" | "+"; readonly text: string };

/** Lines that stand together, with where they begin in both texts (from 1) and how many each has of them. */
export type Hunk = {
  readonly fromLine: number;
  readonly fromCount: number;
  readonly toLine: number;
  readonly toCount: number;
  readonly lines: readonly DiffLine[];
};

const maxEdits = 1_000;
const contextLines = 3;

const signed = (sign: DiffLine["sign"], lines: readonly string[]): DiffLine[] =>
  lines.map((text) => ({ sign, text }));

/**
 * How far each diagonal (lines of `from` minus lines of `to`) gets with 0, 1, 2 … edits, until one gets to the
 * end of both; absent when that takes too many.
 */
function reachesOf(
  from: readonly string[],
  to: readonly string[],
): ReadonlyMap<number, number>[] | undefined {
  const reaches: Map<number, number>[] = [];
  for (let edits = 0; edits <= Math.min(from.length + to.length, maxEdits); edits += 1) {
    const before = reaches.at(-1);
    const reach = new Map<number, number>();
    reaches.push(reach);
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let at = before === undefined ? 0 : startOf(before, diagonal);
      while (at < from.length && at - diagonal < to.length && from[at] === to[at - diagonal]) at += 1;
      reach.set(diagonal, at);
      if (at >= from.length && at - diagonal >= to.length) return reaches;
    }
  }
  return undefined;
}

/** Whether a diagonal is come to by an added line, from the one above it, and not by a removed one. */
function isAdded(before: ReadonlyMap<number, number>, diagonal: number): boolean {
  const [added, removed] = [before.get(diagonal + 1) ?? -1, before.get(diagonal - 1) ?? -1];
  return added > removed;
}

/** Where a diagonal starts after one more edit. */
const startOf = (before: ReadonlyMap<number, number>, diagonal: number): number =>
  isAdded(before, diagonal) ? (before.get(diagonal + 1) ?? 0) : (before.get(diagonal - 1) ?? 0) + 1;

/** All lines of both texts in their order. */
export function diffOfLines(from: readonly string[], to: readonly string[]): DiffLine[] {
  const reaches = reachesOf(from, to);
  if (reaches === undefined) return [...signed("-", from), ...signed("+", to)];
  const backwards: DiffLine[] = [];
  let [at, other] = [from.length, to.length];
  const keepDownTo = (start: number): void => {
    for (; at > start; at -= 1, other -= 1) backwards.push({ sign: " ", text: from[at - 1] ?? "" });
  };
  for (let edits = reaches.length - 1; edits > 0; edits -= 1) {
    const before = reaches[edits - 1] ?? new Map<number, number>();
    const diagonal = at - other;
    keepDownTo(startOf(before, diagonal));
    if (isAdded(before, diagonal)) {
      other -= 1;
      backwards.push({ sign: "+", text: to[other] ?? "" });
    } else {
      at -= 1;
      backwards.push({ sign: "-", text: from[at] ?? "" });
    }
  }
  keepDownTo(0);
  return backwards.reverse();
}

/** The changed lines with some that stayed around them; none when nothing changed. */
export function hunksOf(lines: readonly DiffLine[]): Hunk[] {
  const isShown = lines.map(() => false);
  for (const [index, { sign }] of lines.entries()) {
    if (sign === " ") continue;
    const end = Math.min(index + contextLines, lines.length - 1);
    for (let near = Math.max(index - contextLines, 0); near <= end; near += 1) isShown[near] = true;
  }
  const hunks: Hunk[] = [];
  let [from, to] = [0, 0];
  let open: { from: number; to: number; lines: DiffLine[] } | undefined;
  const close = (): void => {
    if (open === undefined) return;
    const [fromCount, toCount] = [from - open.from, to - open.to];
    // An empty side is named by the line before it, as other tools write and expect it.
    const fromLine = open.from + (fromCount === 0 ? 0 : 1);
    const toLine = open.to + (toCount === 0 ? 0 : 1);
    hunks.push({ fromLine, fromCount, toLine, toCount, lines: open.lines });
    open = undefined;
  };
  for (const [index, line] of lines.entries()) {
    if (isShown[index] !== true) close();
    else {
      open ??= { from, to, lines: [] };
      open.lines.push(line);
    }
    if (line.sign !== "+") from += 1;
    if (line.sign !== "-") to += 1;
  }
  close();
  return hunks;
}
