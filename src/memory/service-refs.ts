/**
 * Refs looked up in the working tree, for whoever reads or writes records (memory.md M70–M76): which root a
 * call means, how its records' refs fare, and what a write notes of their files. Nothing here is stored or
 * refreshed by reading (M75).
 */
import { setImmediate } from "node:timers/promises";
import type { Clock } from "../kernel/clock.js";
import { assertValid, type Ref, type RefBaseline, type StoredRecord } from "./model.js";
import {
  baselineFromRef,
  type CheckedRecord,
  type RefCheck,
  type RefFinding,
  resolveRef,
  unchecked,
} from "./refs-resolve.js";
import { type Root, rootIdViolations, rootNotAttached } from "./roots.js";
import { rootMetadata } from "./service-call.js";
import type { MemoryScope } from "./storage.js";
import type { RootStorage } from "./storage-roots.js";
import type { Sees, TreeBudget, TreeReader } from "./tree.js";
import type { Baselines } from "./upsert.js";

/** Why a ref was left over when a call had no budget any more. */
export const budgetReason = "budget";
const [noRootReason, rootMissingReason] = ["no_root", "root_missing"];
const notLookedUp: ReadonlySet<string> = new Set([noRootReason, rootMissingReason, budgetReason]);

/** How many of these refs were looked up at all, whatever came of it. */
export const lookedUpCount = (checks: readonly RefCheck[]): number =>
  checks.filter(({ reason }) => !notLookedUp.has(reason)).length;

const mebibyte = 1024 * 1024;
const budgets = {
  write: { maxBytes: 32 * mebibyte, maxMs: 250 },
  read: { maxBytes: 64 * mebibyte, maxMs: 1_000 },
  verify: { maxBytes: 256 * mebibyte, maxMs: 5_000 },
} as const satisfies Record<string, TreeBudget>;

export type RefsService = {
  /**
   * The root that a call means by `memoryd-root`, or the one attached first; `undefined` when none is. Throws
   * `invalid_argument` when the metadata is malformed, `failed_precondition` when that root is not attached.
   */
  readonly rootOf: (scope: MemoryScope, metadata: string | undefined) => Promise<Root | undefined>;
  /** How every ref of the records fares, a list a record, in their order. */
  readonly check: (
    root: Root | undefined,
    records: readonly Pick<StoredRecord, "refs">[],
    purpose?: "read" | "verify",
  ) => Promise<readonly (readonly RefCheck[])[]>;
  /** The records with how their refs fare, when the caller asked for that. */
  readonly withChecks: (
    records: readonly StoredRecord[],
    checkRefs: boolean,
    root: Root | undefined,
  ) => Promise<readonly CheckedRecord[]>;
  /** What a write notes of these refs. */
  readonly baselinesOf: (root: Root | undefined, refs: readonly Ref[]) => Promise<Baselines>;
};

/** Lookups that are under way at once; the reader itself has fewer files open. */
const lanes = 8;
/** Lookups that need no file take no time to wait in, so others are let in after so many. */
const restAfter = 200;

/** `of` each item, some at a time, answers in the items' order. */
async function mapInLanes<Item, Answer>(
  items: readonly Item[],
  of: (item: Item) => Promise<Answer>,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++) {
      answers[index] = await of(items[index] as Item);
      if (index % restAfter === restAfter - 1) await setImmediate();
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return answers;
}

const keyOf = ({ kind, target }: Ref): string => `${kind} ${target}`;

export function createRefsService(storage: RootStorage, tree: TreeReader, clock: Clock): RefsService {
  const checkWith =
    (find: (ref: Ref) => Promise<RefFinding>) =>
    async (records: readonly Pick<StoredRecord, "refs">[]): Promise<readonly (readonly RefCheck[])[]> => {
      const wanted = records.flatMap(({ refs }) => refs.map((ref, index) => ({ ref, index })));
      const checks = await mapInLanes(wanted, async ({ ref, index }): Promise<RefCheck> => {
        const { state, reason } = await find(ref);
        return { index, state, reason, checkedMs: clock.nowMs() };
      });
      let start = 0;
      return records.map(({ refs }) => {
        start += refs.length;
        return checks.slice(start - refs.length, start);
      });
    };
  const checkNothing = (reason: string) => checkWith(async () => unchecked(reason));

  const check: RefsService["check"] = async (root, records, purpose = "read") => {
    if (root === undefined) return checkNothing(noRootReason)(records);
    const looked = await tree.within(root.path, budgets[purpose], (sees) =>
      checkWith((ref) => resolveRef(ref, root.path, sees))(records),
    );
    return looked ?? checkNothing(rootMissingReason)(records);
  };

  return {
    check,

    async withChecks(records, checkRefs, root) {
      if (!checkRefs) return records;
      const checks = await check(root, records);
      return records.map((record, index) => ({ ...record, refChecks: checks[index] ?? [] }));
    },

    async rootOf(scope, metadata) {
      if (metadata !== undefined) assertValid(rootIdViolations(rootMetadata, metadata));
      const roots = await storage.roots(scope);
      if (metadata === undefined) return roots[0];
      const named = roots.find(({ rootId }) => rootId === metadata);
      if (named === undefined) throw rootNotAttached();
      return named;
    },

    async baselinesOf(root, refs) {
      const found = new Map<string, RefBaseline>();
      const note = async (ref: Ref, rootPath: string, sees: Sees): Promise<void> => {
        const baseline = await baselineFromRef(ref, rootPath, sees);
        if (baseline !== undefined) found.set(keyOf(ref), baseline);
      };
      if (root !== undefined && refs.length > 0) {
        const { path } = root;
        await tree.within(path, budgets.write, (sees) => mapInLanes(refs, (ref) => note(ref, path, sees)));
      }
      return (ref) => found.get(keyOf(ref));
    },
  };
}
