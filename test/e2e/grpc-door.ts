/** A door through `@grpc/grpc-js`, whose messages `@grpc/proto-loader` makes from the .proto files: no code of ours, none generated. */
import { join } from "node:path";
import { fromBinary, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import * as grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { StatusSchema } from "../../gen/google/rpc/status_pb.js";
import { root } from "../support/compile.js";
import type { Daemon } from "../support/daemon.js";
import { type Door, type RawDetail, Refusal, service } from "./door.js";

const find = (path: string, inside: unknown): grpc.ServiceClientConstructor =>
  path.split(".").reduce((at, part) => (at as Record<string, unknown>)[part], inside) as never;

/** Loads `name` (with its package) from the .proto file. */
export function serviceClient(name: string, file: string, folder: string): grpc.ServiceClientConstructor {
  const definition = loadSync(file, { includeDirs: [join(root, folder)], enums: String, longs: String });
  return find(name, grpc.loadPackageDefinition(definition));
}

export const addressOf = ({ port, socket }: Daemon, place: "TCP" | "the socket"): string =>
  place === "TCP" ? `127.0.0.1:${port}` : `unix:${socket}`;

/** Metadata with the token, which the socket does not need. */
export function metadataFor(
  { token }: Daemon,
  place: "TCP" | "the socket",
  more: Readonly<Record<string, string>> = {},
): grpc.Metadata {
  const metadata = new grpc.Metadata();
  if (place === "TCP") metadata.set("authorization", `Bearer ${token}`);
  for (const [name, value] of Object.entries(more)) metadata.set(name, value);
  return metadata;
}

type Timestamp = { readonly seconds: string; readonly nanos?: number };
const isTimestamp = (value: unknown): value is Timestamp =>
  typeof value === "object" && value !== null && "seconds" in value;

/** proto-loader's objects as protobuf JSON, as far as ours differ: times are texts there. */
function jsonFrom(value: unknown): JsonValue {
  if (isTimestamp(value)) {
    return new Date(Number(value.seconds) * 1_000 + (value.nanos ?? 0) / 1e6).toISOString();
  }
  if (Array.isArray(value)) return value.map(jsonFrom);
  if (typeof value !== "object" || value === null) return value as JsonValue;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, jsonFrom(field)]));
}

/** Protobuf JSON as proto-loader wants it: a mask is an object there. */
const objectFrom = (message: JsonObject): object =>
  typeof message.updateMask === "string"
    ? { ...message, updateMask: { paths: message.updateMask.split(",") } }
    : message;

function detailsOf(error: grpc.ServiceError): readonly RawDetail[] {
  const [packed] = error.metadata.get("grpc-status-details-bin");
  if (!(packed instanceof Uint8Array)) return [];
  return fromBinary(StatusSchema, packed).details.map(({ typeUrl, value }) => ({
    type: typeUrl.slice(typeUrl.lastIndexOf("/") + 1),
    value,
  }));
}

export const refusalFrom = (error: grpc.ServiceError): Refusal =>
  new Refusal((grpc.status[error.code] ?? "").toLowerCase(), error.details, detailsOf(error));

type UnaryCall = (
  message: object,
  metadata: grpc.Metadata,
  callback: (error: grpc.ServiceError | null, answer: object) => void,
) => grpc.ClientUnaryCall;

/** The door, and the client behind it, to be closed. */
export function openGrpcDoor(daemon: Daemon, place: "TCP" | "the socket"): Door & { close: () => void } {
  const Client = serviceClient(service, "magus/memory/v1/memory.proto", "proto");
  const client = new Client(addressOf(daemon, place), grpc.credentials.createInsecure());
  const calls = client as unknown as Record<string, UnaryCall>;
  return {
    close: () => client.close(),
    call: (method, message, metadata) =>
      new Promise((resolve, reject) => {
        let received = new grpc.Metadata();
        const call = (calls[method] as UnaryCall).bind(client);
        call(objectFrom(message), metadataFor(daemon, place, metadata), (error, answer) => {
          if (error !== null) reject(refusalFrom(error));
          else {
            const headers = received;
            resolve({
              message: jsonFrom(answer) as JsonObject,
              metadata: (name) => headers.get(name)[0]?.toString(),
            });
          }
        }).on("metadata", (headers) => {
          received = headers;
        });
      }),
  };
}
