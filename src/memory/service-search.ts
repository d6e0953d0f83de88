/**
 * SearchRecords (memory.md M62–M65): check what was asked, read the query, call the port, and answer as many
 * hits as fit.
 *
 * | query       | answers                                                             |
 * | ----------- | ------------------------------------------------------------------- |
 * | blank, `*`  | what the filters leave, newest first, without scores                |
 * | no token    | nothing, and no words                                               |
 * | all else    | records with any of its terms, best first                           |
 *
 * Without words a page token is a place, as in a list. With words it is a number of hits: a rank has no meaning
 * that outlives a write, so a page is exact while nothing is written and may repeat or miss a hit otherwise.
 */
import { assertRight } from "../kernel/caller.js";
import { type FieldViolation, invalidArgument } from "../kernel/errors.js";
import { keyFromPageToken, pageParametersHash, pageTokenFromKey } from "../kernel/page-token.js";
import { byteLength } from "../kernel/utf8.js";
import { type Query, queryFromText } from "../text/query.js";
import type { Term } from "../text/term.js";
import { assertValid, isRecordType, isRefKind, limits, type StoredRecord, slugViolations } from "./model.js";
import { targetFilterFrom } from "./refs-path.js";
import type { CheckedRecord } from "./refs-resolve.js";
import { type Explanation, explanationFrom } from "./search-text.js";
import { type Call, createScopes } from "./service-call.js";
import type { RefsService } from "./service-refs.js";
import {
  createAnswerBudget,
  factsSize,
  recordSize,
  refChecksSize,
  type Size,
  sumOf,
  textSize,
} from "./size.js";
import type { MemoryScope, MemoryStorage } from "./storage.js";
import type { SearchFilters, SearchFound, SearchPlace, SearchResult } from "./storage-search.js";
import { caseFolded } from "./text.js";
import { pageSizeFrom, recordInView, recordViews, viewFrom } from "./view.js";

export type SearchRequest = {
  readonly query: string;
  readonly pageSize: number;
  readonly pageToken: string;
  readonly view: number;
  readonly explain: boolean;
  readonly checkRefs: boolean;
  readonly types: readonly number[];
  readonly statuses: readonly string[];
  readonly refKinds: readonly number[];
  /** Empty where it is not asked for, as the next. */
  readonly refTarget: string;
  readonly referencedName: string;
};

export type SearchHit = {
  readonly record: CheckedRecord;
  readonly score: number;
  readonly explanation: Explanation | undefined;
};

export type SearchAnswer = {
  readonly hits: readonly SearchHit[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
  readonly totalSize: number;
  readonly words: readonly string[];
  readonly wordsTruncated: boolean;
};

export type SearchService = {
  readonly searchRecords: (call: Call, request: SearchRequest) => Promise<SearchAnswer>;
};

export type SearchOptions = {
  /** The workspace of calls that name none; a slug. */
  readonly defaultWorkspace: string;
};

const pages = { byDefault: 20, most: 100 };
const method = "memoryd.records.v1.RecordService/SearchRecords";
/** A score, the frame of an explanation, and of each term in it: numbers, frames and names of fields. */
const hitSize: Size = { binary: 32, json: 128 };
const termSize: Size = { binary: 96, json: 256 };

function listViolations<Value>(
  field: string,
  values: readonly Value[],
  isKnown: (value: Value) => boolean,
  rule: string,
): FieldViolation[] {
  if (values.length > limits.filterValues) {
    return [{ field, description: `must hold at most ${limits.filterValues} values` }];
  }
  return values.flatMap((value, index) =>
    isKnown(value) ? [] : [{ field: `${field}[${index}]`, description: rule }],
  );
}

const fits =
  (maxBytes: number) =>
  (text: string): boolean =>
    byteLength(text) <= maxBytes;

const sizeViolations = (field: string, text: string, maxBytes: number): FieldViolation[] =>
  fits(maxBytes)(text) ? [] : [{ field, description: `is over ${maxBytes} bytes` }];

function requestViolations(request: SearchRequest): FieldViolation[] {
  const { query, types, statuses, refKinds, refTarget, referencedName } = request;
  return [
    ...sizeViolations("query", query, limits.queryBytes),
    ...listViolations("types", types, isRecordType, "must be pointer, decision or plan"),
    ...listViolations("statuses", statuses, fits(limits.statusBytes), `is over ${limits.statusBytes} bytes`),
    ...listViolations("ref_kinds", refKinds, isRefKind, "must be query, node, output, command or doc"),
    ...sizeViolations("ref_target", refTarget, limits.targetBytes),
    ...(referencedName === "" ? [] : slugViolations("referenced_name", referencedName)),
  ];
}

const filtersFrom = (request: SearchRequest): SearchFilters => ({
  types: request.types,
  statuses: request.statuses.map(caseFolded),
  refKinds: request.refKinds,
  target: request.refTarget === "" ? undefined : targetFilterFrom(request.refTarget),
  referencedName: request.referencedName === "" ? undefined : request.referencedName,
});

/** All that must stay the same from page to page; view and extras may change. */
const parametersOf = ({ workspace }: MemoryScope, request: SearchRequest): string => {
  const { query, types, statuses, refKinds, refTarget, referencedName } = request;
  const filters = JSON.stringify([types, statuses, refKinds, refTarget, referencedName]);
  return pageParametersHash([method, workspace, query, filters]);
};

const isCount = (number: number): boolean => Number.isSafeInteger(number) && number >= 0;

/** Where the page starts; `undefined` for a key that no page ended with. */
function placeFromKey(key: string, query: Query): SearchPlace | undefined {
  if (query.kind !== "recent") {
    const skip = Number(key);
    return isCount(skip) ? { skip } : undefined;
  }
  const [time = "", name = ""] = key.split(" ");
  const updatedMs = Number(time);
  return isCount(updatedMs) && name !== "" ? { updatedMs, name } : undefined;
}

function placeFrom(pageToken: string, parameters: string, query: Query): SearchPlace {
  const key = keyFromPageToken(pageToken, parameters);
  const place = key === undefined ? { skip: 0 } : placeFromKey(key, query);
  if (place !== undefined) return place;
  const description = "is not a token of this daemon; leave it empty to start again";
  throw invalidArgument([{ field: "page_token", description }], "INVALID_PAGE_TOKEN");
}

/** The key of a page that ended with this hit, the `count`th of its page. */
function keyAfter(hit: SearchFound, count: number, place: SearchPlace, query: Query): string {
  if (query.kind === "recent") return `${hit.updatedMs} ${hit.name}`;
  return String(("skip" in place ? place.skip : 0) + count);
}

const nothing: SearchResult = { hits: [], hasMore: false, totalCount: 0, facts: undefined };

export function createSearchService(
  storage: MemoryStorage,
  refs: RefsService,
  options: SearchOptions,
): SearchService {
  const scopeOf = createScopes(options.defaultWorkspace);

  /** The states that were found, one by one; a state that is gone by now is passed over. */
  async function* statesOf(scope: MemoryScope, hits: readonly SearchFound[]) {
    for (let start = 0; start < hits.length; ) {
      const states = await storage.statesAt(scope, hits.slice(start));
      for (const [index, state] of states.entries()) {
        const hit = hits[start + index];
        if (hit !== undefined) yield { hit, state };
      }
      start += states.length;
    }
  }

  const sizeOf = (record: StoredRecord, request: SearchRequest, terms: readonly Term[]): Size =>
    sumOf(
      recordSize(record),
      factsSize(record.writer),
      hitSize,
      refChecksSize(request.checkRefs ? record.refs.length : 0),
      ...(request.explain ? terms.map(({ text }) => sumOf(textSize(text), termSize)) : []),
    );

  return {
    async searchRecords(call, request) {
      assertRight(call.caller, "read");
      const scope = scopeOf(call);
      const root = request.checkRefs ? await refs.rootOf(scope, call.root) : undefined;
      const view = viewFrom(request.view, recordViews.basic);
      assertValid(requestViolations(request));
      const limit = pageSizeFrom(request.pageSize, pages);
      const query = queryFromText(request.query);
      const parameters = parametersOf(scope, request);
      const place = placeFrom(request.pageToken, parameters, query);
      const terms = query.kind === "keyword" ? query.terms : [];
      const asked = { terms, filters: filtersFrom(request), place, limit, explain: request.explain };
      const found = query.kind === "no_terms" ? nothing : await storage.search(scope, asked);

      const words = terms.map(({ text }) => text);
      const hasRoom = createAnswerBudget(
        limit,
        sumOf({ binary: 1_100, json: 1_100 }, ...words.map(textSize)),
      );
      const records: StoredRecord[] = [];
      const rest: Omit<SearchHit, "record">[] = [];
      let [count, last]: [number, SearchFound | undefined] = [0, undefined];
      for await (const { hit, state } of statesOf(scope, found.hits)) {
        if (state?.readable === true) {
          const record = recordInView(state, view);
          if (!hasRoom(sizeOf(record, request, terms))) break;
          records.push(record);
          const { facts } = found;
          const explanation =
            facts === undefined || terms.length === 0
              ? undefined
              : explanationFrom(state, terms, facts.recordCount, facts.terms);
          rest.push({ score: hit.score, explanation });
        }
        [count, last] = [count + 1, hit];
      }
      const isLast = count === found.hits.length && !found.hasMore;
      const nextPageToken =
        isLast || last === undefined ? "" : pageTokenFromKey(keyAfter(last, count, place, query), parameters);
      const checked = await refs.withChecks(records, request.checkRefs, root);
      return {
        hits: checked.flatMap((record, index) => {
          const of = rest[index];
          return of === undefined ? [] : [{ record, ...of }];
        }),
        nextPageToken,
        totalSize: found.totalCount,
        words,
        wordsTruncated: query.kind === "keyword" && query.isCut,
      };
    },
  };
}
