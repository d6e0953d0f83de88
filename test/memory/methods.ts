/** The methods of both services of this domain by name; no name is in both. */
import type { DescMethod } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { MemoryService } from "../../gen/magus/memory/v1/memory_pb.js";
import { RecordService } from "../../gen/memoryd/records/v1/records_pb.js";

const methods: readonly DescMethod[] = [...MemoryService.methods, ...RecordService.methods];

export const methodNamed = (name: string): DescMethod =>
  methods.find((method) => method.name === name) ?? expect.fail(`no method ${name}`);

/** Where a request for the method goes; what neither service has is asked of the contract's. */
export const pathOf = (name: string): string => {
  const method = methods.find((known) => known.name === name);
  return `/${(method?.parent ?? MemoryService).typeName}/${name}`;
};
