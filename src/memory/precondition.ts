/**
 * The precondition of a write, `memoryd-if-update-time` (memory.md M40): the instant that the stored thing
 * must have been written at, or `absent`. A mangled one is refused, never taken for none.
 *
 * | value                                         | holds when                              |
 * | not sent                                      | always                                  |
 * | `absent`                                      | nothing is stored                       |
 * | RFC 3339, 0–9 fraction digits                 | stored at that very instant             |
 * | RFC 3339 with digits below the millisecond    | never (stored times are milliseconds)   |
 * | anything else                                 | refused                                 |
 */
import { invalidArgument } from "../kernel/errors.js";

export const preconditionMetadata = "memoryd-if-update-time";

export type Precondition =
  | { readonly kind: "none" }
  | { readonly kind: "absent" }
  /** `atMs` is absent for an instant that no stored time can equal. */
  | { readonly kind: "at"; readonly atMs: number | undefined };

const rfc3339 =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;
const daysOf = (year: number, month: number): number =>
  new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();

/** The instant in milliseconds since 1970 and whether it has finer digits; absent when it is no RFC 3339 time. */
function instantFrom(text: string): { atMs: number; isFiner: boolean } | undefined {
  const match = rfc3339.exec(text);
  if (match === null) return undefined;
  const part = (index: number): number => Number(match[index] ?? "0");
  const [year, month, day, hour, minute, second] = [part(1), part(2), part(3), part(4), part(5), part(6)];
  const [offsetHours, offsetMinutes] = [part(9), part(10)];
  const isDate = month >= 1 && month <= 12 && day >= 1 && day <= daysOf(year, month);
  if (!isDate || hour > 23 || minute > 59 || second > 60 || offsetHours > 23 || offsetMinutes > 59)
    return undefined;
  const fraction = (match[7] ?? "").padEnd(9, "0");
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, Math.min(second, 59), Number(fraction.slice(0, 3)));
  const offsetMs = (match[8] === "-" ? -1 : 1) * (offsetHours * 60 + offsetMinutes) * 60_000;
  // A leap second is a legal spelling of an instant that the clock never shows.
  return { atMs: date.getTime() - offsetMs, isFiner: second === 60 || !fraction.endsWith("000000") };
}

/** The precondition that the metadata value means; `undefined` means it was not sent. Throws `invalid_argument`. */
export function preconditionFrom(value: string | undefined): Precondition {
  if (value === undefined) return { kind: "none" };
  if (value === "absent") return { kind: "absent" };
  const instant = instantFrom(value);
  if (instant !== undefined) return { kind: "at", atMs: instant.isFiner ? undefined : instant.atMs };
  throw invalidArgument([
    {
      field: preconditionMetadata,
      description: "must be given once, as an RFC 3339 time with at most 9 fraction digits, or as `absent`",
    },
  ]);
}

/** Whether the precondition holds for what is stored (`undefined`: nothing). */
export function isSatisfied(precondition: Precondition, storedUpdatedMs: number | undefined): boolean {
  if (precondition.kind === "none") return true;
  if (precondition.kind === "absent") return storedUpdatedMs === undefined;
  return storedUpdatedMs !== undefined && precondition.atMs === storedUpdatedMs;
}
