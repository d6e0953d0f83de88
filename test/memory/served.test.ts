/** The service as a running daemon answers it: every method, and the vectors that need no clock, over HTTP. */
import { describe, expect, test } from "vitest";
import { MemoryService } from "../../gen/magus/memory/v1/memory_pb.js";
import { daemonOfFile } from "../support/daemon.js";
import { verifies } from "../support/verifies.js";
import { pathOf } from "./methods.js";
import { casesOf, needsClock, runCase, type VectorDoor, vectorFiles } from "./vector.js";

const daemon = daemonOfFile();

const door: VectorDoor = {
  post: async (method, body, metadata = []) => {
    const { url, token } = daemon();
    const isText = typeof body === "string";
    const headers = new Headers({
      authorization: `Bearer ${token}`,
      "content-type": isText ? "application/json" : "application/proto",
    });
    for (const [name, value] of metadata) headers.append(name, value);
    const sent = isText ? body : Buffer.from(body);
    const answer = await fetch(`${url}${pathOf(method)}`, {
      method: "POST",
      headers,
      body: sent,
    });
    return {
      status: answer.status,
      header: answer.headers,
      body: new Uint8Array(await answer.arrayBuffer()),
    };
  },
};

verifies(
  "memory.service.served-by-daemon",
  "the running daemon answers every method of the service",
  async () => {
    const memory = {
      name: "cache-op-surface",
      type: "MEMORY_TYPE_POINTER",
      refs: [{ kind: "MEMORY_REF_KIND_NODE", target: "project:magus" }],
    };
    const requests = {
      UpdateMemory: { memory, allowMissing: true },
      ListMemories: {},
      DeleteMemory: { name: memory.name },
      UpdateCursor: { content: "next: wire the codec" },
      GetCursor: {},
    };
    expect(Object.keys(requests).sort()).toEqual(MemoryService.methods.map(({ name }) => name).sort());
    const answers: Record<string, unknown> = {};
    for (const [method, request] of Object.entries(requests)) {
      const { status, body } = await door.post(method, JSON.stringify(request));
      expect([method, status]).toEqual([method, 200]);
      answers[method] = JSON.parse(Buffer.from(body).toString("utf8"));
    }
    expect(answers).toMatchObject({
      UpdateMemory: { memory },
      ListMemories: { memories: [memory] },
      DeleteMemory: {},
      UpdateCursor: { content: "next: wire the codec" },
      GetCursor: { content: "next: wire the codec" },
    });
  },
);

describe.each(vectorFiles)("$about", (file) => {
  for (const item of file.vectors.flatMap((vector) => casesOf(vector, file))) {
    if (!needsClock(item)) test(item.title, () => runCase(item, door));
  }
});
