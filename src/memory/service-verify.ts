/**
 * VerifyRecords (memory.md M80–M86): what is wrong with the records of a workspace, a page of them at a time.
 * A page ends early when the answer is full or, while refs are looked up, when the call's budget is spent.
 */
import { assertRight } from "../kernel/caller.js";
import { invalidArgument } from "../kernel/errors.js";
import { keyFromPageToken, pageParametersHash, pageTokenFromKey } from "../kernel/page-token.js";
import { compareUtf8 } from "../kernel/utf8.js";
import { assertValid } from "./model.js";
import { createNearDuplicates } from "./near-duplicates.js";
import type { RefCheck } from "./refs-resolve.js";
import { nameNotFound } from "./revision.js";
import { type Call, createNearest, createScopes } from "./service-call.js";
import { namesViolations } from "./service-history.js";
import { budgetReason, lookedUpCount, type RefsService } from "./service-refs.js";
import { createAnswerBudget, type Size } from "./size.js";
import type { MemoryScope, MemoryStorage } from "./storage.js";
import type { Stored } from "./upsert.js";
import { type Issue, issuesOf, type Severity, severities } from "./verify.js";
import { pageSizeFrom } from "./view.js";

export type VerifyRequest = {
  /** All records when empty. */
  readonly names: readonly string[];
  readonly checkRefs: boolean;
  /** 0 asks for all. */
  readonly minSeverity: number;
  readonly pageSize: number;
  readonly pageToken: string;
};

export type Verified = {
  readonly issues: readonly Issue[];
  readonly recordsChecked: number;
  readonly refsChecked: number;
  readonly nextPageToken: string;
};

export type VerifyService = {
  readonly verifyRecords: (call: Call, request: VerifyRequest) => Promise<Verified>;
};

export type VerifyOptions = {
  /** The workspace of calls that name none; a slug. */
  readonly defaultWorkspace: string;
};

const pages = { byDefault: 500, most: 1_000 };
const method = "memoryd.records.v1.RecordService/VerifyRecords";
/** What an issue takes beside its texts, times and frames included, or more. */
const issueBytes = 400;

function severityFrom(minSeverity: number): Severity {
  if (minSeverity === 0) return severities.info;
  const known = Object.values(severities).find((severity) => severity === minSeverity);
  if (known !== undefined) return known;
  throw invalidArgument([{ field: "min_severity", description: "must be info, warning or error" }]);
}

function sizeOf(issues: readonly Issue[]): Size {
  const bytes = issues.reduce(
    (sum, { record, code, message, hint, related = "" }) =>
      sum + issueBytes + [record, code, message, hint, related].join("").length,
    0,
  );
  return { binary: bytes, json: bytes };
}

/** What one read of the workspace tells of a page of its rows. */
type Surveyed = {
  readonly rows: readonly Stored[];
  readonly nextAfter: string | undefined;
  readonly existing: ReadonlySet<string>;
  readonly olderNamesOf: (name: string) => readonly string[];
};

const isOlder = (a: { name: string; createdMs: number }, b: { name: string; createdMs: number }): boolean =>
  a.createdMs === b.createdMs ? compareUtf8(a.name, b.name) < 0 : a.createdMs < b.createdMs;

export function createVerifyService(
  storage: MemoryStorage,
  refs: RefsService,
  options: VerifyOptions,
): VerifyService {
  const scopeOf = createScopes(options.defaultWorkspace);
  const withNearest = createNearest(storage);

  /** Reads the page's rows, and from all names which of those that matter are there and which are alike. */
  const readPage = async (
    scope: MemoryScope,
    names: readonly string[],
    after: string | undefined,
    limit: number,
  ): Promise<Surveyed> => {
    const rows: Stored[] = [];
    const older = new Map<string, string[]>();
    let asked: ReadonlySet<string> | undefined;
    let nearOf: ((name: string) => string[]) | undefined;
    const existing = new Set<string>();
    const byName = new Map<string, Stored>();
    const onRow = (stored: Stored): void => {
      rows.push(stored);
      byName.set(stored.name, stored);
    };
    const onName = (name: string, createdMs: number): void => {
      asked ??= new Set([...names, ...rows.flatMap((row) => (row.readable ? row.references : []))]);
      nearOf ??= createNearDuplicates(byName.keys());
      if (asked.has(name)) existing.add(name);
      for (const near of nearOf(name)) {
        const row = byName.get(near);
        if (row === undefined || !isOlder({ name, createdMs }, row)) continue;
        older.set(near, [...(older.get(near) ?? []), name]);
      }
    };
    const page = { after, limit, onRow, onName, ...(names.length === 0 ? {} : { names }) };
    const { nextAfter } = await storage.survey(scope, page);
    const absent = names.find(
      (name) => (after === undefined || compareUtf8(name, after) > 0) && !existing.has(name),
    );
    if (absent !== undefined) await withNearest(scope, absent, Promise.reject(nameNotFound()));
    return { rows, nextAfter, existing, olderNamesOf: (name) => older.get(name) ?? [] };
  };

  /** How the refs of each row fare, and how many rows could be looked at before the budget was spent. */
  const lookAt = async (
    scope: MemoryScope,
    rootId: string | undefined,
    rows: readonly Stored[],
  ): Promise<{ readonly checks: readonly (readonly RefCheck[])[]; readonly whole: number }> => {
    const root = await refs.rootOf(scope, rootId);
    const records = rows.map((row) => (row.readable ? row : { refs: [] }));
    const checks = await refs.check(root, records, "verify");
    const isCut = (of: readonly RefCheck[]): boolean => of.some(({ reason }) => reason === budgetReason);
    const cut = checks.findIndex((of, index) => index > 0 && isCut(of));
    return { checks, whole: cut === -1 ? rows.length : cut };
  };

  return {
    async verifyRecords(call, { names, checkRefs, minSeverity, pageSize, pageToken }) {
      assertRight(call.caller, "read");
      const scope = scopeOf(call);
      if (checkRefs) await refs.rootOf(scope, call.root);
      assertValid(namesViolations(names, 0));
      const least = severityFrom(minSeverity);
      const limit = pageSizeFrom(pageSize, pages);
      const asked = [String(checkRefs), String(least), ...names];
      const parameters = pageParametersHash([method, scope.workspace, ...asked]);
      const after = keyFromPageToken(pageToken, parameters);
      const { rows, nextAfter, existing, olderNamesOf } = await readPage(scope, names, after, limit);
      const { checks, whole } = checkRefs
        ? await lookAt(scope, call.root, rows)
        : { checks: [], whole: rows.length };

      const hasRoom = createAnswerBudget(limit);
      const issues: Issue[] = [];
      let [recordsChecked, refsChecked] = [0, 0];
      for (const [index, row] of rows.slice(0, whole).entries()) {
        const refChecks = checks[index] ?? [];
        const surroundings = {
          exists: (name: string) => existing.has(name),
          olderNames: olderNamesOf(row.name),
          refChecks,
        };
        const found = issuesOf(row, surroundings, least);
        if (!hasRoom(sizeOf(found))) break;
        issues.push(...found);
        recordsChecked += 1;
        refsChecked += lookedUpCount(refChecks);
      }
      const last = recordsChecked < rows.length ? rows[recordsChecked - 1]?.name : nextAfter;
      const nextPageToken = last === undefined ? "" : pageTokenFromKey(last, parameters);
      return { issues, recordsChecked, refsChecked, nextPageToken };
    },
  };
}
