/**
 * The sentences of seeds/agent-scoped-memory.md: the memory trait and the wrapper that scopes it to one agent.
 * Each method's signature is a sentence too: what it takes and what it answers.
 */
import { deferred } from "./types.js";

const both = "memoryd's two engines both do it; there is no backend without.";
const noOrphans = "No row of memoryd is without an agent, so there are none to let through.";
const noSuchBackend = "memoryd has no such backend.";

const scope = deferred("agent-scoped-memory", "recall", {
  "recall.scoped.new":
    "A scoped memory is made of an inner memory, the agent's id and the ids of siblings it may read.",
  "recall.scoped.is-a-memory": "The scoped memory offers every method of the memory it wraps.",
  "recall.scoped.role": "What acts through it is attributed with a role.",
  "recall.scoped.alias": "What acts through it is attributed with an alias.",
  "recall.name": "A memory tells the name of its backend.",
  "recall.health-check": "A memory answers yes or no to whether it is healthy.",
  "recall.embedder.refresh":
    "The provider of embeddings can be exchanged while running: provider, optional key, model, dimensions.",
  "recall.embedder.refresh-reaches-open-handles":
    "After the exchange, handles that were open before use no stale address or key.",
  "recall.embedder.refresh-without-restart": "The exchange needs no restart of the daemon.",
});

const store = deferred("agent-scoped-memory", "recall", {
  "recall.store.entry": "Store keeps a text under a key in a category.",
  "recall.store.session": "Storing may name a session that the entry belongs to, or none.",
  "recall.store.with-metadata": "Store with metadata adds an optional namespace and importance.",
  "recall.store.with-options": "Store with options takes every further field that an entry may carry.",
  "recall.store.with-options-and-agent":
    "Store with options and agent takes all of them and an optional explicit agent.",
  "recall.store.with-agent":
    "Store with agent takes namespace, importance and an optional explicit agent as the entry's owner.",
  "recall.store.agent-never-dropped": "An explicit agent is kept with the entry by every backend.",
  "recall.store.agent-in-sql": "The SQL backends keep the agent in a column.",
  "recall.store.agent-by-directory": {
    sentence: "The Markdown backend keeps the agent by a directory for each.",
    note: noSuchBackend,
  },
  "recall.store.agent-in-payload": {
    sentence: "The vector-database backend keeps the agent in its payload.",
    note: noSuchBackend,
  },
  "recall.store.none-is-a-stub": { sentence: "The null backend stores nothing.", note: noSuchBackend },
  "recall.store.scoped-caller": "The scoped memory is the usual caller that names the agent.",
  "recall.procedural.store":
    "The messages of a turn with tool calls can be stored as a trace of how something is done, optionally in a session.",
});

const search = deferred("agent-scoped-memory", "recall", {
  "recall.search.keywords":
    "Recall finds the entries that match a query's words, at most as many as asked for.",
  "recall.search.session": "Recall may be narrowed to one session.",
  "recall.search.time-range": "Recall may be narrowed to a range of creation times.",
  "recall.search.blank-is-recent": "An empty query answers recent entries by time alone.",
  "recall.search.whitespace-is-recent": "So does a query of white space only.",
  "recall.search.star-is-recent": "So does a query that is a bare star.",
  "recall.search.wildcard-term-is-keyword": "A word with stars around it is searched for as a keyword.",
  "recall.search.time-format": "Time bounds are written in RFC 3339 / ISO 8601.",
  "recall.search.since-inclusive": "An entry created at the very lower bound is in range.",
  "recall.search.until-inclusive": "An entry created at the very upper bound is in range.",
  "recall.search.namespaced":
    "Recall in a namespace answers entries of that namespace only, with the same query, limit, session and bounds.",
  "recall.search.for-agents":
    "Recall for agents takes a list of agents beside query, limit, session and bounds.",
  "recall.search.for-agents-filters":
    "A list with agents in it narrows the answer to entries of those agents.",
  "recall.search.for-agents-legacy-rows": {
    sentence: "Rows from before agents were kept are answered whatever the list.",
    note: noOrphans,
  },
  "recall.search.allowlist-never-dropped": "No backend ignores the list.",
});

const read = deferred("agent-scoped-memory", "recall", {
  "recall.get.by-key": "Get answers the entry of a key, or nothing.",
  "recall.get.for-agent": "Get for an agent answers the entry with that key and that agent.",
  "recall.get.for-agent-hides-siblings": "The same key under other agents is not seen by it.",
  "recall.list.all": "List answers all entries.",
  "recall.list.by-category": "List may be narrowed to a category.",
  "recall.list.by-session": "List may be narrowed to a session, alone or with a category.",
  "recall.count.total": "Count answers how many entries there are.",
  "recall.count.in-scope": "Count in scope counts rows of a namespace, a category, both or neither.",
  "recall.stats": "Stats tell of the memory without changing it.",
  "recall.export.by-filter": "Export answers all entries that a filter selects.",
});

const forget = deferred("agent-scoped-memory", "recall", {
  "recall.forget.by-key": "Forget removes what is stored under a key and tells whether there was anything.",
  "recall.forget.every-agent": "Unscoped, it removes every row of that key, whichever agent owns it.",
  "recall.forget.scoped-uses-own-row": "Through an agent's scope only the agent's own row is removed.",
  "recall.forget.for-agent": "Forget for an agent removes the row with that key and that agent.",
  "recall.forget.for-agent-spares-siblings": "The same key under other agents stays as it was.",
  "recall.forget.for-agent-answers-removed": "Forget for an agent answers true when a row was removed.",
  "recall.forget.for-agent-required": {
    sentence:
      "Whatever can hold several rows of one key must implement it: forgetting unscoped would destroy others.",
    note: both,
  },
  "recall.purge.namespace":
    "Purging a namespace removes every entry whose namespace is exactly the given one.",
  "recall.purge.namespace-count": "Purging a namespace answers how many entries were removed.",
  "recall.purge.namespace-unsupported": {
    sentence: "A backend that cannot delete in bulk answers an error that says so.",
    note: both,
  },
  "recall.purge.session": "Purging a session removes every entry of it.",
  "recall.purge.session-count": "Purging a session answers how many entries were removed.",
  "recall.purge.session-unsupported": {
    sentence: "A backend that cannot purge a session answers an error that says so.",
    note: both,
  },
  "recall.purge.session-for-agent": "Purging a session for an agent removes that agent's entries of it only.",
  "recall.purge.session-for-agent-count":
    "Purging a session for an agent answers how many entries were removed.",
  "recall.purge.session-for-agent-unsupported": {
    sentence: "A backend without a store for each agent answers an error that says so.",
    note: both,
  },
  "recall.purge.session-for-agent-is-one-step":
    "An agent's scope uses it; it does not list a session and then delete by key.",
});

const agents = deferred("agent-scoped-memory", "recall", {
  "recall.agents.ensure": "The id of an agent is looked up by its alias, and made when there is none.",
  "recall.agents.purge": "Purging an agent removes every row that is attributed to its alias.",
  "recall.agents.purge-count": "Purging an agent answers how many rows were removed.",
  "recall.agents.purge-on-removal": {
    sentence:
      "An agent is purged when its alias leaves the configuration, so that no rows of retired agents pile up.",
    note: "Aliases are not kept in a configuration file, so nothing is purged by itself.",
  },
  "recall.agents.purge-unsupported": {
    sentence:
      "Backends without a store for each agent answer an error to a purge, and the caller logs a warning.",
    note: both,
  },
  "recall.agents.export": "Exporting an agent answers every row that is attributed to its alias.",
  "recall.agents.export-then-purge": "An agent is deleted in two steps: exported to an archive, then purged.",
  "recall.agents.export-default-empty": {
    sentence: "A backend that cannot export by agent answers nothing.",
    note: both,
  },
  "recall.agents.rename": "Renaming an agent moves every row from one alias to the other.",
  "recall.agents.rename-count": {
    sentence:
      "A rename answers how many rows were moved; in the SQL backends rows ride on the agent's id, so 0 or 1.",
    note: "The answer is a flag, changed, and the agent's count of entries.",
  },
  "recall.agents.rename-in-payloads": {
    sentence: "A backend that keeps the alias with each row rewrites every one and counts them.",
    note: noSuchBackend,
  },
  "recall.agents.rename-unsupported": {
    sentence:
      "Backends without a store for each agent answer an error to a rename, and the caller logs a warning.",
    note: both,
  },
  "recall.agents.count": "Counting an agent answers what a rename of its alias would move.",
  "recall.agents.count-changes-nothing": "Counting an agent changes nothing.",
  "recall.agents.count-shows-residue":
    "So a rename that was cut short can be told from an unrelated request and taken up again.",
});

const life = deferred("agent-scoped-memory", "recall", {
  "recall.reindex.text": "Reindexing rebuilds the text index.",
  "recall.reindex.vectors": "Reindexing makes the vectors that are missing.",
  "recall.reindex.count": "Reindexing answers how many rows it worked on.",
  "recall.supersede": "Entries can be marked as replaced by a newer one, by ids.",
});

export const recallRequirements = [...scope, ...store, ...search, ...read, ...forget, ...agents, ...life];
