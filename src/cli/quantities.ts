/** Sizes and durations as people read them. Programs get the numbers (`--json`). */

const sizeUnits = ["bytes", "KiB", "MiB", "GiB", "TiB"] as const;
const step = 1_024;

/** `1 byte`, `812 bytes`, `1.5 MiB`. */
export function sizeText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= step && unit < sizeUnits.length - 1) {
    value /= step;
    unit += 1;
  }
  if (unit === 0) return bytes === 1 ? "1 byte" : `${bytes} bytes`;
  return `${value.toFixed(value < 10 ? 1 : 0)} ${sizeUnits[unit]}`;
}

const durationUnits = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
  ["s", 1],
] as const;

/** The two largest units that are not zero: `3 d 4 h`, `12 s`. */
export function durationText(seconds: number): string {
  let rest = Math.floor(seconds);
  const parts: string[] = [];
  for (const [name, size] of durationUnits) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count} ${name}`);
    else if (parts.length > 0) break;
  }
  return parts.slice(0, 2).join(" ") || "0 s";
}
