/**
 * What the test's page does: it offers one function to whoever drives the browser, which makes one call by
 * `@connectrpc/connect-web` as any page would. It is bundled and served from an origin of its own.
 */
import type { JsonObject } from "@bufbuild/protobuf";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import { callThrough, type Outcome, withToken } from "../connect-door.js";
import type { Metadata, MethodName } from "../door.js";

export type PageCall = {
  readonly way: "Connect in JSON" | "Connect in binary" | "gRPC-Web";
  readonly url: string;
  readonly token: string;
  readonly method: MethodName;
  readonly message: JsonObject;
  readonly metadata: Metadata;
};

declare global {
  interface Window {
    callMemoryd: (call: PageCall) => Promise<Outcome>;
  }
}

window.callMemoryd = ({ way, url, token, method, message, metadata }) => {
  const options = { baseUrl: url, interceptors: [withToken(token)] };
  const transport =
    way === "gRPC-Web"
      ? createGrpcWebTransport(options)
      : createConnectTransport({ ...options, useBinaryFormat: way === "Connect in binary" });
  return callThrough(transport, method, message, metadata);
};
