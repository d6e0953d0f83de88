/** A door through any Connect transport, of Node or of a browser: typed client, interceptor, error details. */
import { fromJson, type JsonObject, type Message, toJson } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import { MemoryService } from "../../gen/magus/memory/v1/memory_pb.js";
import type { Metadata, MethodName, RawDetail } from "./door.js";

/** What both an answer and a refusal become, plain enough to leave a browser. */
export type Outcome =
  | { readonly message: JsonObject; readonly headers: Metadata }
  | {
      readonly code: string;
      readonly text: string;
      readonly details: readonly { readonly type: string; readonly value: readonly number[] }[];
    };

type UnaryCall = (
  request: Message,
  options: { headers: Metadata; onHeader: (headers: Headers) => void },
) => Promise<Message>;

/** Sends the operator token with every call. */
export const withToken =
  (token: string): Interceptor =>
  (next) =>
  (request) => {
    request.header.set("authorization", `Bearer ${token}`);
    return next(request);
  };

const codeName = (code: Code): string =>
  (Code[code] ?? "").replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase();

const detailsFrom = (error: ConnectError): readonly { type: string; value: readonly number[] }[] =>
  error.details.flatMap((detail) =>
    "type" in detail && detail.value instanceof Uint8Array
      ? [{ type: detail.type, value: [...detail.value] }]
      : [],
  );

/** Makes one call by the typed client; what is no answer of the daemon is an outcome too. */
export async function callThrough(
  transport: Transport,
  name: MethodName,
  message: JsonObject,
  headers: Metadata = {},
): Promise<Outcome> {
  const method = MemoryService.methods.find((candidate) => candidate.name === name);
  if (method === undefined) throw new Error(`${name} is no method`);
  const client = createClient(MemoryService, transport) as unknown as Record<string, UnaryCall>;
  const call = client[method.localName] as UnaryCall;
  let received = new Headers();
  try {
    const onHeader = (seen: Headers): void => {
      received = seen;
    };
    const answer = await call(fromJson(method.input, message), { headers, onHeader });
    return {
      message: toJson(method.output, answer as never) as JsonObject,
      headers: Object.fromEntries(received),
    };
  } catch (caught) {
    const error = ConnectError.from(caught);
    return { code: codeName(error.code), text: error.rawMessage, details: detailsFrom(error) };
  }
}

export const rawDetails = (
  details: readonly { readonly type: string; readonly value: readonly number[] }[],
): readonly RawDetail[] => details.map(({ type, value }) => ({ type, value: Uint8Array.from(value) }));
