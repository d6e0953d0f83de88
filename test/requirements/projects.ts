/** The sentences of seeds/project-memory-api.md: the REST routes of project memory documents. */
import { deferred } from "./types.js";

const list = deferred("project-memory-api", "projects", {
  "projects.list.route": "GET /v1/memory lists projects with their sections.",
  "projects.list.owner": "The parameter owner limits it to one project.",
  "projects.list.own-account": "Without owner the caller's own account is in the list.",
  "projects.list.active-teams": "Without owner each team is listed in which the caller is an active member.",
  "projects.list.empty-left-out": "A project without sections is not listed.",
  "projects.list.answer": "The answer is projects, each with owner, rev and sections.",
  "projects.list.section-fields":
    "A listed section has name, scope, size, version, updated_at and updated_by.",
});

const read = deferred("project-memory-api", "projects", {
  "projects.read.route": "GET /v1/memory/{owner} reads a document.",
  "projects.read.scope": "The parameter scope is team, user or merged.",
  "projects.read.scope-default": "Without it the scope is merged.",
  "projects.read.section": "The parameter section limits the answer to one section.",
  "projects.read.section-in-wrong-scope": "A section that is not of the scope asked for is 422.",
  "projects.read.answer": "The answer is owner, scope, rev, sections and markdown.",
  "projects.read.section-fields":
    "A read section has name, scope, version, updated_at, updated_by and content.",
  "projects.read.fixed-order": "Sections come in one fixed order.",
  "projects.read.missing-absent": "A section that does not exist is not in the answer.",
});

const rev = deferred("project-memory-api", "projects", {
  "projects.rev.route": "GET /v1/memory/{owner}/rev is the signal that something changed.",
  "projects.rev.reads-no-section": "It comes from one listing; no section's content is read.",
  "projects.rev.answer": "The answer is owner, rev and a map from section names to hashes.",
  "projects.rev.zero-when-empty": "The rev of a project without sections is 0.",
  "projects.rev.on-every-tool-answer": "It is appended to every answer of a tool.",
});

const patch = deferred("project-memory-api", "projects", {
  "projects.patch.route": "PUT /v1/memory/{owner}/{section} patches one section.",
  "projects.patch.scope-follows-section": "The scope of a write follows from the section's name.",
  "projects.patch.open-work-is-own": "The section open-work is the caller's own overlay.",
  "projects.patch.others-are-the-teams": "Every other section is shared by the team.",
  "projects.patch.if-version": "if_version is an integer, required, and is the version that the caller read.",
  "projects.patch.if-version-zero": "if_version 0 means that the section must not exist.",
  "projects.patch.edits": "edits is a list of find and replace pairs.",
  "projects.patch.edits-in-order": "Edits apply one after the other.",
  "projects.patch.edits-all-or-nothing": "When one edit fails, none is applied.",
  "projects.patch.find-matches-once": "Each find matches exactly one place.",
  "projects.patch.content-creates": "content, a string, creates a new section.",
  "projects.patch.content-on-existing": "content for a section that exists is 422.",
  "projects.patch.delete": "delete, a boolean, removes the section.",
  "projects.patch.one-of-three": "Exactly one of edits, content and delete is given.",
  "projects.patch.answer": "The answer is name, scope, version, updated_at, updated_by and size.",
});

const errors = deferred("project-memory-api", "projects", {
  "projects.error.unknown-section": "An unknown name of a section is 404.",
  "projects.error.stale-version": "A stale if_version is 409.",
  "projects.error.current": "That 409 carries current: version, content, updated_at and updated_by.",
  "projects.error.merge-and-retry":
    "A caller who merges into current and writes again with its version succeeds.",
  "projects.error.if-version-missing": "A missing if_version is 422.",
  "projects.error.none-or-several": "None or several of edits, content and delete is 422.",
  "projects.error.find-count": "A find that matches nowhere or more than once is 422.",
  "projects.error.names-the-edit": "The sentence of that error says which edit it was.",
  "projects.error.too-large": "A result of more than 16,384 bytes is 422.",
});

export const projectsRequirements = [...list, ...read, ...rev, ...patch, ...errors];
