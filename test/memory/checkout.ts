/** A working tree with a workspace attached to it, for tests of refs: files, records about them, and how they fare. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { MemoryRefKind, MemoryType } from "../../gen/magus/memory/v1/memory_pb.js";
import { RefState } from "../../gen/memoryd/records/v1/records_pb.js";
import { temporaryFolder } from "../support/folder.js";
import type { MemoryInit } from "./records.js";
import type { Stack } from "./stack.js";

export const { DOC, NODE, COMMAND, OUTPUT, QUERY } = MemoryRefKind;

type Target = string | readonly [kind: MemoryRefKind, target: string];
const refOf = (target: Target) =>
  typeof target === "string" ? { kind: DOC, target } : { kind: target[0], target: target[1] };

let count = 0;

/** A workspace of its own in a folder of its own; attached unless told otherwise. */
export async function newCheckout(
  { client, records }: Pick<Stack, "client" | "records">,
  { isAttached = true }: { readonly isAttached?: boolean } = {},
) {
  count += 1;
  const workspace = `checkout-${count}`;
  const root = join(temporaryFolder(), "root");
  mkdirSync(root);
  const calling = (more: Readonly<Record<string, string>> = {}) => ({
    headers: { "memoryd-workspace": workspace, ...more },
  });
  const attach = async (path = root): Promise<string> =>
    (await records.attachRoot({ path }, calling())).rootId;
  const rootId = isAttached ? await attach() : "";

  const file = (path: string, text: string): string => {
    const whole = join(root, path);
    mkdirSync(dirname(whole), { recursive: true });
    writeFileSync(whole, text);
    return whole;
  };
  const put = async (name: string, targets: readonly Target[], fields: MemoryInit = {}, paths?: string[]) => {
    const memory = { name, type: MemoryType.DECISION, refs: targets.map(refOf), ...fields };
    const mask = paths === undefined ? {} : { updateMask: { paths } };
    const answer = await client.updateMemory({ memory, allowMissing: true, ...mask }, calling());
    return answer.memory ?? expect.fail("a write answers no record");
  };
  const verify = (request: Parameters<Stack["records"]["verifyRecords"]>[0] = {}, more = {}) =>
    records.verifyRecords({ checkRefs: true, ...request }, calling(more));
  /** `resolved`, `drifted content_differs` …, a word for each ref of the record. */
  const fares = async (name: string, more: Readonly<Record<string, string>> = {}): Promise<string[]> => {
    const { record } = await records.getRecord({ name, checkRefs: true }, calling(more));
    return (record?.refChecks ?? []).map(({ state, reason }) =>
      `${(RefState[state] ?? "").toLowerCase()} ${reason}`.trim(),
    );
  };
  return { workspace, root, rootId, calling, attach, file, put, verify, fares };
}
