/**
 * The vectors MV1–MV45 of the memory specification: proven whole, proven but for what waits, or waiting. All
 * of them run on SQLite in memory and on disk; on PostgreSQL each runs with the milestone `postgres`, which
 * is noted here only where the vector itself speaks of it.
 */
import { deferredRules, rules } from "./types.js";

const twoDaemons = "two daemons on one PostgreSQL database";

export const memoryVectors = [
  ...rules({
    MV1: { records: "ListWorkspaces lacks a workspace that was never written" },
    MV2: undefined,
    MV3: undefined,
    MV4: { records: "malformed names are refused by GetRecord too" },
    MV5: undefined,
    MV6: undefined,
    MV7: undefined,
    MV8: undefined,
    MV9: undefined,
    MV10: undefined,
    MV11: undefined,
    MV12: undefined,
    MV13: { records: "VerifyRecords warns of a stale status" },
    MV14: undefined,
    MV15: undefined,
    MV16: undefined,
    MV17: undefined,
    MV18: undefined,
    MV19: undefined,
    MV20: undefined,
    MV21: { postgres: twoDaemons },
    MV22: undefined,
    MV23: undefined,
    MV24: undefined,
    MV25: undefined,
    MV26: { records: "a precondition on ImportRecords is refused" },
    MV27: undefined,
    MV28: undefined,
    MV29: undefined,
    MV30: undefined,
    MV31: undefined,
    MV32: { records: "a token of SearchRecords is refused" },
    MV33: { records: "GetRecord of an unreadable record says RECORD_UNREADABLE" },
    MV34: { records: "VerifyRecords names each missing reference" },
    MV35: undefined,
    MV36: { postgres: twoDaemons },
    MV37: undefined,
    MV38: { records: "ListCursorRevisions lists the live cursor and 50 earlier ones" },
    MV39: undefined,
    MV42: undefined,
    MV43: { records: "the search index agrees after a crash" },
    MV44: undefined,
    MV45: undefined,
  }),
  ...deferredRules({
    MV40: { projects: "minted tokens that are bound to a workspace or may only read" },
    MV41: { records: "a workspace derived from the repository" },
  }),
];
