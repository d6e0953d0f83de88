/**
 * The four operations as calls. Each is asked once and its answer decoded before the measurement; from then
 * on an answer counts only if it is as long as that one, or holds what this very call wrote.
 */
import {
  create,
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonValue,
  type MessageInitShape,
  type MessageShape,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import {
  GetCursorRequestSchema,
  GetCursorResponseSchema,
  ListMemoriesRequestSchema,
  ListMemoriesResponseSchema,
  UpdateMemoryRequestSchema,
} from "../../../gen/magus/memory/v1/memory_pb.js";
import {
  createMarks,
  createTurns,
  cursorText,
  fieldsOf,
  largeWorkspace,
  recordName,
  recordsPerWorkspace,
  smallWorkspace,
  smallWorkspaceRecords,
  writtenNames,
  writtenWorkspace,
} from "../workload.js";
import type { Caller } from "./caller.js";
import type { OperationName } from "./job.js";

/** How messages become bytes. */
export type Codec = {
  readonly encode: <Desc extends DescMessage>(schema: Desc, value: MessageInitShape<Desc>) => Buffer;
  readonly decode: <Desc extends DescMessage>(schema: Desc, bytes: Buffer) => MessageShape<Desc>;
};

export const jsonCodec: Codec = {
  encode: (schema, value) => Buffer.from(JSON.stringify(toJson(schema, create(schema, value)))),
  decode: (schema, bytes) => fromJson(schema, JSON.parse(bytes.toString()) as JsonValue),
};

export const binaryCodec: Codec = {
  encode: (schema, value) => {
    const bytes = toBinary(schema, create(schema, value));
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  },
  decode: (schema, bytes) => fromBinary(schema, bytes),
};

export type Operation = {
  /** One call, or one for each page. */
  readonly once: (caller: Caller) => Promise<void>;
};

const pathOf = (method: string): string => `/magus.memory.v1.MemoryService/${method}`;

export const workspaceOf: Readonly<Record<OperationName, string>> = {
  UpdateMemory: writtenWorkspace,
  "ListMemories of 100": smallWorkspace,
  "ListMemories of 10,000": largeWorkspace,
  GetCursor: largeWorkspace,
};

function assertLength(answer: Buffer, expected: number, method: string): void {
  if (answer.length !== expected)
    throw new Error(`${method} answered ${answer.length} bytes where it had answered ${expected}`);
}

// Never begun anew within a run: what an update writes must differ from what is stored.
const nextMark = createMarks();
const nextIndex = createTurns(writtenNames);

function updating({ encode }: Codec): Operation {
  const path = pathOf("UpdateMemory");
  return {
    once: async (caller) => {
      const index = nextIndex();
      const mark = nextMark();
      const { refs, references, ...fields } = fieldsOf(index, mark);
      const memory = { name: recordName(index), ...fields, refs: [...refs], references: [...references] };
      const answer = await caller.call(
        path,
        encode(UpdateMemoryRequestSchema, { memory, allowMissing: true }),
      );
      if (!answer.includes(mark)) throw new Error("UpdateMemory did not answer what it was to write");
    },
  };
}

async function reading({ encode, decode }: Codec, caller: Caller): Promise<Operation> {
  const path = pathOf("GetCursor");
  const question = encode(GetCursorRequestSchema, {});
  const first = await caller.call(path, question);
  if (decode(GetCursorResponseSchema, first).content !== cursorText)
    throw new Error("GetCursor did not answer the cursor that was stored");
  return {
    once: async (asking) => assertLength(await asking.call(path, question), first.length, "GetCursor"),
  };
}

async function listing({ encode, decode }: Codec, caller: Caller, records: number): Promise<Operation> {
  const path = pathOf("ListMemories");
  const pages: { readonly question: Buffer; readonly bytes: number }[] = [];
  let listed = 0;
  for (let pageToken = ""; pages.length === 0 || pageToken !== ""; ) {
    const question = encode(ListMemoriesRequestSchema, { pageToken });
    const bytes = await caller.call(path, question);
    const answer = decode(ListMemoriesResponseSchema, bytes);
    pages.push({ question, bytes: bytes.length });
    listed += answer.memories.length;
    pageToken = answer.nextPageToken;
  }
  if (listed !== records) throw new Error(`ListMemories answered ${listed} records of ${records}`);
  return {
    once: async (asking) => {
      for (const { question, bytes } of pages)
        assertLength(await asking.call(path, question), bytes, "ListMemories");
    },
  };
}

/** The operation, ready to be measured. */
export async function prepareOperation(
  name: OperationName,
  codec: Codec,
  caller: Caller,
): Promise<Operation> {
  if (name === "UpdateMemory") return updating(codec);
  if (name === "GetCursor") return reading(codec, caller);
  const records = name === "ListMemories of 100" ? smallWorkspaceRecords : recordsPerWorkspace;
  return listing(codec, caller, records);
}
