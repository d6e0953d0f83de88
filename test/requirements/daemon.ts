/**
 * The daemon's rules D1–D23 and D26–D30: proven whole, or proven but for what waits. D24 and
 * D25 (users, teams, tokens) come whole with `projects` and are not listed.
 */
import { rules } from "./types.js";

export const daemonRules = rules({
  D1: undefined,
  D2: undefined,
  D3: undefined,
  D4: undefined,
  D5: { mcp: "the MCP bridge and the hooks attach by ensureDaemon() and follow MEMORYD_URL" },
  D6: { postgres: "the lock of an instance whose database is PostgreSQL lies in its state folder" },
  D7: { records: "searches and other long queries are aborted at once by the second signal" },
  D8: undefined,
  D9: { records: "a text index is not rebuilt before ready", recall: "no model is loaded before ready" },
  D10: { recall: "status tells of pending embeddings" },
  D11: undefined,
  D12: {
    projects: "REST on the same port",
    mcp: "MCP on the same port",
    console: "the console on the same port",
  },
  D13: undefined,
  D14: undefined,
  D15: { recall: "the embedding queue among the metrics", sync: "the sync queue among the metrics" },
  D16: { projects: "the audit log" },
  D17: undefined,
  D18: undefined,
  D19: { console: "the daemon's own page is an allowed origin" },
  D20: {
    projects: "minted tokens: prefix and checksum, stored hashed, bound, with a right and an expiry",
    stores: "the same token as x-api-key at the stores' REST door",
    console: "the session cookie of the console's own page",
  },
  D21: { projects: "a bound token sent over the socket confines its caller" },
  D22: undefined,
  D23: undefined,
  D26: { projects: "callers that are another user, or an agent, with less than every right" },
  D27: undefined,
  D28: { postgres: "contracts on the PostgreSQL binaries of an npm package or at TEST_POSTGRES_URL" },
  D29: { console: "the package carries the built page" },
  D30: {
    postgres: "both commands name PostgreSQL's own tools",
    stores: "stores get new epochs too",
    sync: "a synced directory claims anew after a restore",
  },
});
