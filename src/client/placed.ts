/**
 * A transport for a program that works in a folder: every call goes to the folder's workspace, a write keeps the
 * workspace's name with the repository (memory.md M7), and what looks refs up does so in this worktree, which is
 * attached to the workspace when the daemon runs on this machine and lets us (M70).
 *
 * | call                              | in which root                                                        |
 * | --------------------------------- | -------------------------------------------------------------------- |
 * | UpdateMemory                      | this worktree, attached by the first of them                         |
 * | a read that checks refs           | the same, unless nothing is kept yet: a read makes no workspace      |
 * | the daemon is elsewhere, or refuses | whichever the daemon takes                                         |
 */
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { MemoryService } from "../../gen/magus/memory/v1/memory_pb.js";
import { RecordService } from "../../gen/memoryd/records/v1/records_pb.js";
import type { FoundWorkspace } from "./workspace.js";

const workspaceHeader = "memoryd-workspace";
const rootHeader = "memoryd-root";

const { updateMemory, deleteMemory, updateCursor } = MemoryService.method;
const { restoreRecord, importRecords } = RecordService.method;
const writes: ReadonlySet<unknown> = new Set([
  updateMemory,
  deleteMemory,
  updateCursor,
  restoreRecord,
  importRecords,
]);

type SentHeaders = Parameters<Transport["unary"]>[3];

const checksRefs = (input: unknown): boolean =>
  typeof input === "object" && input !== null && "checkRefs" in input && input.checkRefs === true;

export type PlacedOptions = {
  readonly found: FoundWorkspace;
  /** Whether the daemon sees the same files as we do. */
  readonly isLocal: boolean;
};

export function createPlacedTransport(transport: Transport, { found, isLocal }: PlacedOptions): Transport {
  const headersWith = (header: SentHeaders, rootId?: string): Headers => {
    const headers = new Headers(header);
    if (!headers.has(workspaceHeader)) headers.set(workspaceHeader, found.workspace);
    if (rootId !== undefined && !headers.has(rootHeader)) headers.set(rootHeader, rootId);
    return headers;
  };
  const options = { headers: { [workspaceHeader]: found.workspace } };
  const memory = createClient(MemoryService, transport);
  const records = createClient(RecordService, transport);

  /** The id of this worktree's root; without one the daemon takes another root or none, which is no fault. */
  const attach = async (path: string): Promise<string | undefined> => {
    try {
      return (await records.attachRoot({ path }, options)).rootId;
    } catch (error) {
      // A daemon that cannot be reached says so again to the call itself.
      if (error instanceof ConnectError) return undefined;
      throw error;
    }
  };
  const isUsed = async (): Promise<boolean> => {
    const { memories, nextPageToken } = await memory.listMemories({ pageSize: 1 }, options);
    return memories.length > 0 || nextPageToken !== "";
  };

  let attached: Promise<string | undefined> | undefined;
  const rootFor = async (isWrite: boolean): Promise<string | undefined> => {
    if (!isLocal || found.root === undefined) return undefined;
    if (attached === undefined && !isWrite && !(await isUsed())) return undefined;
    attached ??= attach(found.root);
    return attached;
  };

  return {
    async unary(method, signal, timeoutMs, header, input, contextValues) {
      const isUpdate = (method as unknown) === updateMemory;
      const rootId = isUpdate || checksRefs(input) ? await rootFor(isUpdate) : undefined;
      try {
        const headers = headersWith(header, rootId);
        const answer = await transport.unary(method, signal, timeoutMs, headers, input, contextValues);
        if (writes.has(method)) found.pin();
        return answer;
      } catch (error) {
        // It may have been detached meanwhile; a later call attaches it again.
        if (ConnectError.from(error).code === Code.FailedPrecondition) attached = undefined;
        throw error;
      }
    },
    stream: (method, signal, timeoutMs, header, input, contextValues) =>
      transport.stream(method, signal, timeoutMs, headersWith(header), input, contextValues),
  };
}
