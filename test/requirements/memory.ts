/**
 * The sentences of seeds/memory-service.md: `magus.memory.v1.MemoryService`. A fact that the document states
 * at a method and again at a field stands once. Numbers, types and labels are grouped by message; their
 * proof is `test/memory/wire.test.ts`.
 */
import { deferred, proven } from "./types.js";

const seed = "memory-service";

const service = proven(seed, {
  "memory.service.records-and-cursor":
    "One service lists, writes and deletes records, and reads and overwrites the one cursor.",
  "memory.service.served-by-daemon": "The running daemon answers the service.",
});

const list = proven(seed, {
  "memory.list.full-records": "A list answers each record whole, with every field that is stored.",
  "memory.list.records-are-small":
    "Whole records can be listed because each is small: the largest legal one still fits a page.",
  "memory.list.paginated-by-contract":
    "A client that follows the tokens gets every record however many there are, without a change of contract.",
  "memory.list.all-by-default": "Without a page size and token, all records that fit an answer come at once.",
  "memory.list.page-size": "The page size is part of the request and is accepted.",
  "memory.list.page-token": "The page token of an answer is taken by the next request.",
  "memory.list.no-token-when-complete":
    "The next page's token is empty as long as the answer has everything.",
});

const update = proven(seed, {
  "memory.update.upsert-by-name": "A write finds its record by the name in the sent record, its identity.",
  "memory.update.allow-missing": "With allow_missing, a write to an absent name creates the record.",
  "memory.update.absent-without-allow-missing":
    "Without allow_missing, a write to an absent name creates nothing.",
  "memory.update.in-place":
    "A write to a record that exists changes that one, with allow_missing or without.",
  "memory.update.empty-mask-full-replace": {
    sentence: "A write without mask paths replaces the whole record: what was left out is cleared.",
    note: "The document knows no other mode yet; memoryd also takes masks with paths (memory M22).",
  },
  "memory.update.aip-134-upsert":
    "Creating by a write follows AIP-134: all supplied fields count, whatever the mask says.",
  "memory.update.answers-stored-record": "A write answers the record as it is stored.",
  "memory.update.server-set-times": "The times in that answer were set by the server.",
});

const remove = proven(seed, {
  "memory.delete.by-name": "A delete removes the record of that name and no other.",
  "memory.delete.absent-without-allow-missing": "Without allow_missing, deleting an absent record fails.",
  "memory.delete.allow-missing-noop":
    "With allow_missing, deleting an absent record succeeds and changes nothing.",
  "memory.delete.idempotent": "So a delete with allow_missing can be repeated and answers the same.",
});

const cursor = proven(seed, {
  "memory.cursor.singleton": {
    sentence: "There is one cursor, without a name.",
    note: "One a workspace, so that two projects do not overwrite each other.",
  },
  "memory.cursor.get": "Reading the cursor answers the text that was written last.",
  "memory.cursor.empty-when-never-written": "A cursor that was never written reads as empty text.",
  "memory.cursor.overwrite": "Writing the cursor replaces the whole text that was there.",
  "memory.cursor.update-answers-content":
    "Writing the cursor answers a content field: the text as it is stored.",
  "memory.cursor.untrusted":
    "The cursor's text is untrusted data: handed back as sent, never interpreted or quoted in an error.",
});

const record = proven(seed, {
  "memory.record.name-kebab-slug": "A record's name is a kebab-case slug; anything else is refused.",
  "memory.record.refs-required": "A record without refs is refused, whatever its type: refs are its payload.",
  "memory.record.body-decision-plan-only":
    "Only decisions and plans may carry a body, which is a short caption.",
  "memory.record.pointer-body-empty": "The body of a pointer is empty.",
  "memory.record.body-untrusted":
    "A body is untrusted prose: handed back as data, never interpreted or quoted in an error.",
  "memory.record.status-optional": "A record may have a status or none.",
  "memory.record.status-free":
    "A status is any word for the state of affairs: accepted, superseded, done, stale and others not in a list.",
  "memory.record.references-by-name": "References link a record to others by their names.",
  "memory.record.create-time-output-only": "A sent create_time is ignored; only the server sets it.",
  "memory.record.update-time-output-only": "A sent update_time is ignored; only the server sets it.",
});

const refsAndTypes = [
  ...proven(seed, {
    "memory.ref.typed-pointer": "A ref is a kind and a target, and a record's payload is a list of them.",
    "memory.ref.target-forms":
      "A target is a node's id or path, an output's token, or the raw words of a query or command.",
    "memory.ref.kind-closed": "The kinds of refs are a closed set: an unknown or unset one is refused.",
    "memory.ref.node-doc-output": "Refs of kind node, doc and output name a thing of the project.",
    "memory.ref.query-command-rerunnable":
      "Refs of kind query and command keep their words exactly, so that they can be run again.",
    "memory.type.closed":
      "The types of records are a stable, closed set: an unknown or unset one is refused.",
    "memory.type.pointer-refs-only": "A pointer carries refs and no prose.",
    "memory.type.decision-plan-caption":
      "Decisions and plans carry a caption beside their refs, which says why.",
  }),
  ...deferred(seed, "records", {
    "memory.ref.resolves-or-dangles": {
      sentence: "A ref of any kind either resolves or dangles.",
      note: "Held where looking is enough; what cannot be known without running something is unchecked.",
    },
  }),
];

const wire = proven(seed, {
  "memory.wire.package-and-file":
    "The package is magus.memory.v1, and its file is proto/magus/memory/v1/memory.proto.",
  "memory.wire.list-memories":
    "ListMemories is a unary POST to /magus.memory.v1.MemoryService/ListMemories, from ListMemoriesRequest to ListMemoriesResponse.",
  "memory.wire.update-memory":
    "UpdateMemory is a unary POST to /magus.memory.v1.MemoryService/UpdateMemory, from UpdateMemoryRequest to UpdateMemoryResponse.",
  "memory.wire.delete-memory":
    "DeleteMemory is a unary POST to /magus.memory.v1.MemoryService/DeleteMemory, from DeleteMemoryRequest to DeleteMemoryResponse.",
  "memory.wire.get-cursor":
    "GetCursor is a unary POST to /magus.memory.v1.MemoryService/GetCursor, from GetCursorRequest to GetCursorResponse.",
  "memory.wire.update-cursor":
    "UpdateCursor is a unary POST to /magus.memory.v1.MemoryService/UpdateCursor, from UpdateCursorRequest to UpdateCursorResponse.",
  "memory.wire.memory-message":
    "Memory: name 1 string, type 2 MemoryType, refs 3 repeated MemoryRef, status 4 string, body 5 string, references 6 repeated string, create_time 7 and update_time 8 Timestamp.",
  "memory.wire.memory-ref": "MemoryRef: kind 1 MemoryRefKind, target 2 string.",
  "memory.wire.list-memories-request": "ListMemoriesRequest: page_size 1 int32, page_token 2 string.",
  "memory.wire.list-memories-response":
    "ListMemoriesResponse: memories 1 repeated Memory, next_page_token 2 string.",
  "memory.wire.update-memory-request":
    "UpdateMemoryRequest: memory 1 Memory, update_mask 2 FieldMask, allow_missing 3 bool.",
  "memory.wire.update-memory-response": "UpdateMemoryResponse: memory 1 Memory.",
  "memory.wire.delete-memory-request": "DeleteMemoryRequest: name 1 string, allow_missing 2 bool.",
  "memory.wire.delete-memory-response": "DeleteMemoryResponse has no fields.",
  "memory.wire.get-cursor-request": "GetCursorRequest has no fields.",
  "memory.wire.get-cursor-response": "GetCursorResponse: content 1 string.",
  "memory.wire.update-cursor-request": "UpdateCursorRequest: content 1 string.",
  "memory.wire.update-cursor-response": "UpdateCursorResponse: content 1 string.",
  "memory.wire.memory-ref-kind":
    "MemoryRefKind: MEMORY_REF_KIND_UNSPECIFIED 0, _QUERY 1, _NODE 2, _OUTPUT 3, _COMMAND 4, _DOC 5.",
  "memory.wire.memory-type": "MemoryType: MEMORY_TYPE_UNSPECIFIED 0, _POINTER 1, _DECISION 2, _PLAN 3.",
});

export const memoryRequirements = [
  ...service,
  ...list,
  ...update,
  ...remove,
  ...cursor,
  ...record,
  ...refsAndTypes,
  ...wire,
];
