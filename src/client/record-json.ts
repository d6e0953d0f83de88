/**
 * Records, and what a refused write tells of them, between messages and the JSON of the contract, for
 * programs that read and print JSON without knowing the generated code.
 */
import { create, fromJson, type JsonValue, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import { type Memory, MemorySchema } from "../../gen/magus/memory/v1/memory_pb.js";
import {
  type Cursor,
  CursorSchema,
  type Issue,
  IssueSchema,
  type RecordRevision,
  RecordRevisionSchema,
  type SearchHit,
  type SearchRecordsRequestSchema,
  type SearchRecordsResponse,
  SearchRecordsResponseSchema,
  type WatchRecordsResponse,
  WatchRecordsResponseSchema,
  type Workspace,
  WorkspaceSchema,
  type WriteConflict,
  WriteConflictSchema,
} from "../../gen/memoryd/records/v1/records_pb.js";

/** A record as it travels. */
export type RecordMessage = Memory;

/** What was stored when a conditional write was refused. */
export type ConflictMessage = WriteConflict;

/** One kept state of a record. */
export type RevisionMessage = RecordRevision;

/** One kept value of the cursor. */
export type CursorMessage = Cursor;

export type WorkspaceMessage = Workspace;

/** One thing that is wrong with a record. */
export type IssueMessage = Issue;

/** What a search asks for. */
export type SearchRequestMessage = MessageInitShape<typeof SearchRecordsRequestSchema>;

/** What a search answers, and one of its hits. */
export type SearchMessage = SearchRecordsResponse;
export type SearchHitMessage = SearchHit;

/** One message of a watch. */
export type WatchMessage = WatchRecordsResponse;

export const createRecordMessage = (fields: MessageInitShape<typeof MemorySchema>): RecordMessage =>
  create(MemorySchema, fields);

export const jsonFromRecord = (record: RecordMessage): JsonValue => toJson(MemorySchema, record);

/** Throws with the parser's own words when the JSON is no record; a member that nobody knows is a fault. */
export const recordFromJson = (json: JsonValue): RecordMessage => fromJson(MemorySchema, json);

/** What the daemon has stored, from the error by which it refused a conditional write. */
export const conflictFromError = (error: ConnectError): ConflictMessage | undefined =>
  error.findDetails(WriteConflictSchema)[0];

export const jsonFromConflict = (conflict: ConflictMessage): JsonValue =>
  toJson(WriteConflictSchema, conflict);

export const jsonFromRevision = (revision: RevisionMessage): JsonValue =>
  toJson(RecordRevisionSchema, revision);

export const jsonFromCursor = (cursor: CursorMessage): JsonValue => toJson(CursorSchema, cursor);

export const jsonFromWorkspace = (workspace: WorkspaceMessage): JsonValue =>
  toJson(WorkspaceSchema, workspace);

export const jsonFromSearch = (answer: SearchMessage): JsonValue =>
  toJson(SearchRecordsResponseSchema, answer);

export const jsonFromWatch = (message: WatchMessage): JsonValue =>
  toJson(WatchRecordsResponseSchema, message);

export const jsonFromIssue = (issue: IssueMessage): JsonValue => toJson(IssueSchema, issue);
