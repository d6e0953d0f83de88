/**
 * `buf curl`, a client in Go that others wrote, against a real daemon: all three protocols, learning the service
 * from the daemon (reflection) or from the .proto files, over TCP and the socket.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { root } from "../support/compile.js";
import { daemonOfFile, plainEnvironment } from "../support/daemon.js";
import { conversation } from "./conversation.js";
import { type Answer, type Door, methods, type RawDetail, Refusal, service } from "./door.js";

const daemon = daemonOfFile();
const protocols = ["connect", "grpcweb", "grpc"] as const;
type Protocol = (typeof protocols)[number];

type Finished = { readonly code: number; readonly stdout: string; readonly stderr: string };

function buf(args: readonly string[]): Promise<Finished> {
  const program = join(root, "node_modules", "@bufbuild", "buf", "bin", "buf");
  return new Promise((resolve) => {
    const options = { cwd: root, env: plainEnvironment() };
    execFile(process.execPath, [program, "curl", ...args], options, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr });
    });
  });
}

type Way = {
  readonly protocol: Protocol;
  readonly place: "TCP" | "the socket";
  /** Where it learns the service. */
  readonly from: "reflection" | "the proto files";
  readonly http2: boolean;
};

function argumentsFor({ protocol, place, from, http2 }: Way): readonly string[] {
  const { socket, token } = daemon();
  return [
    "--protocol",
    protocol,
    ...(http2 ? ["--http2-prior-knowledge"] : []),
    ...(from === "reflection" ? [] : ["--schema", "proto"]),
    ...(place === "TCP" ? ["--header", `authorization: Bearer ${token}`] : ["--unix-socket", socket]),
  ];
}

const urlOf = (place: Way["place"], method: string): string =>
  `${place === "TCP" ? daemon().url : "http://localhost"}/${service}/${method}`;

/** The error that it prints on stderr, amid what `-v` says. */
function refusalFrom(stderr: string): Refusal {
  const error = JSON.parse(/^\{$[\s\S]*?^\}$/m.exec(stderr)?.[0] ?? stderr) as {
    code: string;
    message: string;
    details?: { type: string; value: string }[];
  };
  const details = (error.details ?? []).map(
    ({ type, value }): RawDetail => ({ type, value: Buffer.from(value, "base64") }),
  );
  return new Refusal(error.code, error.message, details);
}

const doorBy = (way: Way): Door => ({
  async call(method, message, metadata = {}): Promise<Answer> {
    const headers = Object.entries(metadata).flatMap(([name, value]) => ["--header", `${name}: ${value}`]);
    const args = [...argumentsFor(way), ...headers, "-v", "-d", JSON.stringify(message)];
    const { code, stdout, stderr } = await buf([...args, urlOf(way.place, method)]);
    if (code !== 0) throw refusalFrom(stderr);
    return {
      message: JSON.parse(stdout) as JsonObject,
      metadata: (name) => new RegExp(`^buf: < \\(#\\d+\\) ${name}: (.*)$`, "im").exec(stderr)?.[1],
    };
  },
});

describe.each(protocols)("buf curl by %s over TCP, with reflection", (protocol) => {
  const way = { protocol, place: "TCP", from: "reflection", http2: true } as const;
  conversation(() => doorBy(way), { cutsConflicts: protocol === "grpc" });
});

const others: readonly Way[] = protocols.flatMap((protocol): Way[] => [
  // Reflection streams both ways, which HTTP/1.1 cannot; gRPC needs HTTP/2 itself.
  { protocol, place: "TCP", from: "the proto files", http2: protocol === "grpc" },
  { protocol, place: "the socket", from: "the proto files", http2: protocol === "grpc" },
  { protocol, place: "the socket", from: "reflection", http2: true },
]);

test.each(others)("buf curl by $protocol over $place, with $from", async (way) => {
  const door = doorBy(way);
  const workspace = { "memoryd-workspace": `${way.protocol}-${others.indexOf(way)}` };
  expect((await door.call("UpdateCursor", { content: "here" }, workspace)).message).toEqual({
    content: "here",
  });
  expect((await door.call("GetCursor", {}, workspace)).message).toEqual({ content: "here" });
  const refused = door.call(
    "UpdateMemory",
    { memory: { name: "nothing-here" }, updateMask: "status" },
    workspace,
  );
  await expect(refused).rejects.toMatchObject({ code: "not_found", info: { reason: "RECORD_NOT_FOUND" } });
});

test("buf curl lists what the daemon serves, without a token", async () => {
  const args = ["--http2-prior-knowledge", daemon().url];
  const services = (await buf(["--list-services", ...args])).stdout.trim().split("\n");
  expect(services).toEqual(expect.arrayContaining([service, "grpc.health.v1.Health"]));
  const listed = (await buf(["--list-methods", ...args])).stdout.trim().split("\n");
  expect(listed).toEqual(expect.arrayContaining(methods.map((method) => `${service}/${method}`)));
});
