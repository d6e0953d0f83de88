/**
 * The sentences of seeds/memsync.md: the rules that both halves of a directory sync share. The slug is in use
 * already (the operating system's user becomes a user's name); path, content, marker and cap come with
 * `stores`; baseline, tree, removal and plan with `sync`.
 */
import { deferred, proven } from "./types.js";

const seed = "memsync";
const inProcess = "Made in process, without a shell: the same listing, order and exits (sync Y5).";
const inProcessRemoval = "Made in process, without a shell: the same steps in the same order (sync Y7).";

const slug = proven(seed, {
  "memsync.slug.lowercase": "A slug is the name in lower case.",
  "memsync.slug.runs-become-one-hyphen":
    "Each run of other characters than letters and digits becomes one hyphen.",
  "memsync.slug.hyphens-trimmed": "No slug begins or ends with a hyphen: `(Notes)` gives `notes`.",
  "memsync.slug.ascii-only":
    "Only ASCII letters and digits count; of another script only the ASCII part is left.",
  "memsync.slug.fallback": "A name of which nothing is left gives the caller's fallback.",
});

const shared = deferred(seed, "stores", {
  "memsync.shared.one-copy":
    "The API that takes a write and the sync that applies one use the same rules, from one place.",
  "memsync.shared.refused-locally-too": "What the API would refuse, a sync refuses before it asks.",
  "memsync.shared.pure":
    "The rules touch no database, no directory and no network: they are functions of strings.",
  "memsync.slug.names-the-directory":
    "A store is mounted in a directory named by the slug of its display name.",
});

const limits = deferred(seed, "stores", {
  "memsync.limits.path-bytes": "A path has at most 1,024 bytes.",
  "memsync.limits.content-bytes": "A content has at most 102,400 bytes.",
  "memsync.limits.counted-in-bytes": "Both are counted in UTF-8 bytes, not in characters.",
  "memsync.limits.names-in-characters": "A store's own texts are counted in characters.",
  "memsync.limits.memories-per-store": "A store holds at most 2,000 memories.",
  "memsync.limits.cap-refuses-new": "In a full store, writing a new memory fails.",
  "memsync.limits.cap-spares-existing": "In a full store, the memories that exist can be read and edited.",
  "memsync.limits.cap-for-api-and-sync": "The cap holds for a create by the API and for one by a sync.",
});

const path = deferred(seed, "stores", {
  "memsync.path.starts-with-slash": "A path begins with a slash.",
  "memsync.path.has-a-segment": "A path has at least one segment that is not empty.",
  "memsync.path.no-empty-segments": "A path has no empty segment.",
  "memsync.path.no-dot-segments": "No segment of a path is `.` or `..`.",
  "memsync.path.no-control-characters": "A path has no control characters.",
  "memsync.path.no-format-characters": "A path has no format characters.",
  "memsync.path.no-separators": "A path has neither U+2028 nor U+2029.",
  "memsync.path.nfc": "A path is NFC-normalised.",
  "memsync.path.nfc-refused-not-rewritten": "A path that is not NFC is refused and never rewritten.",
  "memsync.path.case-sensitive": "Paths that differ in case are different paths.",
  "memsync.path.marker-reserved": "The marker's own path is no memory's.",
});

const content = deferred(seed, "stores", {
  "memsync.content.utf-8": "A content is valid UTF-8.",
  "memsync.content.no-nul": "A content with U+0000 is refused, because PostgreSQL cannot hold it as text.",
  "memsync.content.api-refuses-nul": "The API refuses a NUL anywhere in a body before it looks at a field.",
  "memsync.content.holds-for-files":
    "Both hold for bytes read from a file, which no JSON has checked before.",
  "memsync.content.one-bad-file":
    "One file with a NUL does not stop the rest of its store from being synced.",
});

const marker = deferred(seed, "stores", {
  "memsync.marker.name":
    "The marker is the file `.anthropic-memory-store` at the root of a synced directory.",
  "memsync.marker.every-directory": "Every directory of a store carries it.",
  "memsync.marker.bytes": "Its bytes are a version line and the id of the store.",
  "memsync.marker.recognised-by-hash": "A directory is known as one's own by comparing the marker's bytes.",
  "memsync.marker.untrusted-pushes-nothing":
    "From a directory whose marker is missing or altered nothing is pushed.",
});

const tree = deferred(seed, "sync", {
  "memsync.tree.regular-files": "The listing has every regular file of the directory but the marker.",
  "memsync.tree.sha-256": "Each is listed with its SHA-256.",
  "memsync.tree.nul-terminated": "Each record ends in NUL, so any file name survives.",
  "memsync.tree.byte-order": { sentence: "Records are in byte order of their names.", note: inProcess },
  "memsync.tree.absent-directory": "A directory that does not exist lists nothing and exits 0.",
  "memsync.tree.other-directory": "A root that is no longer the directory it was exits 3.",
  "memsync.tree.no-silent-failure": {
    sentence: "A part that could not be read or hashed fails the listing; it never passes as a smaller tree.",
    note: inProcess,
  },
  "memsync.tree.only-the-exit-status": {
    sentence: "A warning on stderr alone does not fail the listing.",
    note: inProcess,
  },
  "memsync.tree.needs-gnu-tools": {
    sentence: "The listing is made by bash and GNU coreutils.",
    note: "Made in process, so that it needs neither; the format stays equal to that of GNU sha256sum.",
  },
  "memsync.tree.parse": "A listing is read into a map of paths and digests.",
  "memsync.tree.parse-record": "A record is 64 hex digits, a space, a space or a star, `./`, a name and NUL.",
  "memsync.tree.parse-cut-off": "A record without its NUL is refused: a listing that was cut short ends so.",
});

const removal = deferred(seed, "sync", {
  "memsync.removal.unlinks": {
    sentence: "Removal unlinks the files of the removed memories.",
    note: inProcessRemoval,
  },
  "memsync.removal.one-or-several": {
    sentence: "Removal is one step or several, however many paths there are.",
    note: inProcessRemoval,
  },
  "memsync.removal.prunes-empty-directories":
    "Then each directory above them is removed as far up as it is empty.",
  "memsync.removal.never-the-root": "The root itself is never removed.",
  "memsync.removal.frees-the-path": "So a memory may be created where a removed directory was.",
  "memsync.removal.checks-the-root": "Removal first makes sure that the root is still the directory it was.",
  "memsync.removal.unlink-failure-fails": "An unlink that fails is a failure.",
  "memsync.removal.prune-failure-is-fine": "A directory that cannot be removed is no failure.",
});

const baseline = deferred(seed, "sync", {
  "memsync.baseline.synced":
    "The baseline's synced maps a path to the digest that both sides held after a sync.",
  "memsync.baseline.refused": "The baseline's refused maps a path to the digest that the store refused.",
  "memsync.baseline.tells-edits-apart": "By it the next sync tells a local edit from a change in the store.",
  "memsync.baseline.beside-the-directory": "It is kept outside the synced directory.",
  "memsync.baseline.json": "It is JSON with the members synced and refused, each left out when empty.",
  "memsync.baseline.refused-is-not-retried": "A refused digest is skipped until the bytes change.",
  "memsync.baseline.decode": "Decoding reads back what encoding wrote.",
  "memsync.baseline.nothing-is-empty": "An absent or an empty file is an empty baseline.",
  "memsync.baseline.maps-usable": "Both maps of a decoded baseline can always be used.",
});

const planInput = deferred(seed, "sync", {
  "memsync.input.head": "A head is the store's memory at a path: its id and its digest.",
  "memsync.input.local": "A plan is made from the directory's files by digest, the marker left out,",
  "memsync.input.baseline-and-remote": "… the baseline of the last sync and the heads of the store,",
  "memsync.input.pull-only": "… and whether the sync may write to the store at all.",
  "memsync.input.pull-only-cases":
    "It may not for a read-only attachment, an archived store, or a missing or altered marker.",
});

const actions = deferred(seed, "sync", {
  "memsync.action.fields":
    "An action has a kind, a path, an id, the three digests and whether it is a conflict.",
  "memsync.action.conflict": "A conflict is a pull over a local edit or a local deletion: the store won.",
  "memsync.action.kinds": "There are four kinds: pull, push, delete in the store, remove from the directory.",
  "memsync.action.pull": "A pull writes the store's content and then sets the baseline to its digest.",
  "memsync.action.push-create": "A push without an id creates a memory from the directory's bytes.",
  "memsync.action.push-update":
    "A push with an id updates it on condition that the store still holds the baseline.",
  "memsync.action.push-local-digest": "A push carries the digest of the bytes that are pushed.",
  "memsync.action.delete-remote":
    "A delete in the store is made on condition that the store still holds the baseline.",
  "memsync.action.remove-local":
    "A file is removed when the store deleted its memory and the directory never changed it.",
});

const plan = deferred(seed, "sync", {
  "memsync.plan.path-order": "Actions are in the order of paths.",
  "memsync.plan.next": "The next baseline has only what needed no action.",
  "memsync.plan.applier-adds":
    "The applier adds what each action lands: a pull's remote digest, a push's local one.",
  "memsync.plan.refused-delete-keeps": "When the store refuses a delete, its baseline entry is kept.",
  "memsync.plan.rest-dropped": "Entries of other actions that did not land are dropped.",
  "memsync.plan.skipped":
    "Skipped lists the pushes that a standing refusal holds back; the refusal stays in next.",
  "memsync.plan.withheld": "Withheld counts the pushes that pull-only left out, so that a log can say so.",
  "memsync.plan.rebuild": "Rebuild tells that the wipe guard struck.",
  "memsync.plan.union": "Every path of directory, baseline or store is judged.",
  "memsync.plan.store-changed": "The store changed a path when its head is not the baseline's.",
  "memsync.plan.directory-changed": "The directory changed a path when its file is not the baseline's.",
  "memsync.plan.store-wins": "Where both changed, the store wins.",
  "memsync.plan.deletion-propagates": "A deletion on one side goes over to the other when that is unchanged.",
  "memsync.plan.edit-beats-remote-deletion": "A local edit of what the store deleted creates it again.",
  "memsync.plan.no-window": "A deletion needs no second look before it counts.",
  "memsync.plan.no-deletion-cap": {
    sentence: "The plan has no limit on how many deletions it may hold.",
    note: "The plan is pure and has none; the applier's brake is a rule of its own.",
  },
  "memsync.plan.pull-only": "Pull-only leaves out every write to the store and decides all else alike.",
  "memsync.plan.pull-only-follows": "So a read-only directory still follows changes and deletions.",
  "memsync.plan.refused-push-skipped":
    "A push of bytes that were refused before is skipped until they change.",
  "memsync.plan.bad-path-create-skipped":
    "So is a push that would create a memory at a path the rules refuse.",
  "memsync.plan.update-judged-by-bytes": "A push to a memory that exists is judged by its bytes alone.",
  "memsync.plan.wipe-guard":
    "An empty directory whose baseline remembers more than one file was wiped: all is pulled, nothing deleted.",
});

export const memsyncRequirements = [
  ...slug,
  ...shared,
  ...limits,
  ...path,
  ...content,
  ...marker,
  ...tree,
  ...removal,
  ...baseline,
  ...planInput,
  ...actions,
  ...plan,
];
