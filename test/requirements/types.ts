/**
 * What a requirement is: one promise of a document that memoryd implements, said in our own words, and whether
 * a test proves it now or a later milestone must. The lists are beside this file; `test/requirements.test.ts`
 * compares them with the tests.
 */

/** The later parts of memoryd, in the order of their work; what is deferred names one of them. */
export const milestones = [
  "records",
  "postgres",
  "projects",
  "recall",
  "stores",
  "sync",
  "mcp",
  "console",
] as const;

export type Milestone = (typeof milestones)[number];

export type Seed = "memory-service" | "agent-scoped-memory" | "memsync" | "project-memory-api";

/** One checkable sentence of a seed document. Its id is stable and is what `verifies` is called with. */
export type Requirement = {
  readonly id: string;
  readonly seed: Seed;
  readonly sentence: string;
  /** How memoryd reads the sentence where a plain reading misleads. */
  readonly note?: string;
} & ({ readonly state: "proven" } | { readonly state: "deferred"; readonly until: Milestone });

/** What of a vector or rule a later milestone must still prove. */
export type Waits = Readonly<Partial<Record<Milestone, string>>>;

/** A test vector of the memory specification, or a rule of the daemon's. */
export type Rule = { readonly id: string } & (
  | { readonly state: "proven" }
  | { readonly state: "partly" | "deferred"; readonly waits: Waits }
);

/** A sentence, or a sentence with its note. */
type Entry = string | { readonly sentence: string; readonly note: string };

const parts = (entry: Entry): { sentence: string; note?: string } =>
  typeof entry === "string" ? { sentence: entry } : entry;

/** Sentences that tests prove, by id. */
export const proven = (seed: Seed, entries: Readonly<Record<string, Entry>>): readonly Requirement[] =>
  Object.entries(entries).map(([id, entry]) => ({ id, seed, ...parts(entry), state: "proven" }));

/** Sentences that the milestone `until` must prove, by id. */
export const deferred = (
  seed: Seed,
  until: Milestone,
  entries: Readonly<Record<string, Entry>>,
): readonly Requirement[] =>
  Object.entries(entries).map(([id, entry]) => ({ id, seed, ...parts(entry), state: "deferred", until }));

/** Rules that are proven whole (`undefined`) or but for what waits. */
export const rules = (entries: Readonly<Record<string, Waits | undefined>>): readonly Rule[] =>
  Object.entries(entries).map(([id, waits]) =>
    waits === undefined ? { id, state: "proven" } : { id, state: "partly", waits },
  );

/** Rules of which nothing can be proven yet. */
export const deferredRules = (entries: Readonly<Record<string, Waits>>): readonly Rule[] =>
  Object.entries(entries).map(([id, waits]) => ({ id, state: "deferred", waits }));
