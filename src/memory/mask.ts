/**
 * Which fields an update changes (memory.md M20b, M21, M22).
 *
 * | mask                                             | meaning                                              |
 * | none, no paths, exactly `*`                      | full: every field, left-out ones are cleared         |
 * | paths of type, refs, status, body, references    | partial: those fields, whole                         |
 * | name, create_time, update_time                   | ignored; alone they change nothing but update_time   |
 * | anything else, `*` beside others, over 64 paths  | refused, INVALID_MASK                                |
 */
import { type FieldViolation, invalidArgument } from "../kernel/errors.js";
import { limits, type SettableField, settableFields } from "./model.js";

export type Mask =
  | { readonly kind: "full" }
  | { readonly kind: "partial"; readonly fields: readonly SettableField[] };

const ignored = ["name", "create_time", "update_time"];
const isSettable = (path: string): path is SettableField =>
  (settableFields as readonly string[]).includes(path);

/** The mask that the paths mean. Throws `invalid_argument` (INVALID_MASK), naming paths by index, never by text. */
export function maskFromPaths(paths: readonly string[]): Mask {
  if (paths.length === 0 || (paths.length === 1 && paths[0] === "*")) return { kind: "full" };
  const refused = (violations: readonly FieldViolation[]): never => {
    throw invalidArgument(violations, "INVALID_MASK");
  };
  if (paths.length > limits.maskPaths) {
    refused([{ field: "update_mask", description: `must hold at most ${limits.maskPaths} paths` }]);
  }
  if (paths.includes("*"))
    refused([{ field: "update_mask", description: "must hold `*` alone or name fields without it" }]);
  const unknown = paths.flatMap((path, index) =>
    isSettable(path) || ignored.includes(path)
      ? []
      : [
          {
            field: `update_mask.paths[${index}]`,
            description: `must be one of ${settableFields.join(", ")}; ${ignored.join(", ")} are ignored`,
          },
        ],
  );
  if (unknown.length > 0) refused(unknown);
  return { kind: "partial", fields: settableFields.filter((field) => paths.includes(field)) };
}
