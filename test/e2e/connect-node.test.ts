/** `@connectrpc/connect-node` against a real daemon: every protocol, encoding, HTTP version and compression, TCP and socket. */
import { connect } from "node:net";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import {
  compressionBrotli,
  compressionGzip,
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  Http2SessionManager,
} from "@connectrpc/connect-node";
import { afterAll, describe, expect, test } from "vitest";
import { MemoryService } from "../../gen/magus/memory/v1/memory_pb.js";
import { type Daemon, daemonOfFile } from "../support/daemon.js";
import { callThrough, rawDetails, withToken } from "./connect-door.js";
import { conversation } from "./conversation.js";
import { type Door, Refusal } from "./door.js";

const daemon = daemonOfFile();

const sessions: Http2SessionManager[] = [];
afterAll(() => {
  for (const session of sessions) session.abort();
});

type Place = "TCP" | "the socket";

const baseUrlOf = ({ url }: Daemon, place: Place): string => (place === "TCP" ? url : "http://localhost");

/** What a transport needs to reach the daemon, by version of HTTP. */
function dialHttp1(place: Place) {
  const nodeOptions = place === "TCP" ? {} : { socketPath: daemon().socket };
  return { httpVersion: "1.1" as const, baseUrl: baseUrlOf(daemon(), place), nodeOptions };
}

function dialHttp2(place: Place) {
  const baseUrl = baseUrlOf(daemon(), place);
  const nodeOptions = place === "TCP" ? {} : { createConnection: () => connect(daemon().socket) };
  const sessionManager = new Http2SessionManager(baseUrl, {}, nodeOptions);
  sessions.push(sessionManager);
  return { httpVersion: "2" as const, baseUrl, sessionManager };
}

const dial = (place: Place, version: "1.1" | "2") =>
  version === "1.1" ? dialHttp1(place) : dialHttp2(place);

/** Over the socket no token is sent, because none is needed. */
const interceptors = (place: Place) => (place === "TCP" ? [withToken(daemon().token)] : []);

const compressed = {
  acceptCompression: [compressionBrotli, compressionGzip],
  compressMinBytes: 0,
};

type Client = { readonly name: string; readonly open: () => Transport; readonly cutsConflicts?: boolean };

const places: readonly Place[] = ["TCP", "the socket"];
const versions = ["1.1", "2"] as const;

const clients: readonly Client[] = places.flatMap((place) =>
  versions.flatMap((version): Client[] => {
    const where = `HTTP/${version} over ${place}`;
    const common = () => ({ ...dial(place, version), interceptors: interceptors(place) });
    const connectIn = (format: string, useBinaryFormat: boolean): Client => ({
      name: `Connect in ${format} on ${where}`,
      open: () => createConnectTransport({ ...common(), useBinaryFormat }),
    });
    const grpc: Client = {
      name: `gRPC on ${where}`,
      open: () => createGrpcTransport({ ...dialHttp2(place), interceptors: interceptors(place) }),
      cutsConflicts: true,
    };
    return [
      connectIn("JSON", false),
      connectIn("binary", true),
      { name: `gRPC-Web on ${where}`, open: () => createGrpcWebTransport(common()) },
      ...(version === "2" ? [grpc] : []),
    ];
  }),
);

const packed: readonly Client[] = [
  {
    name: "Connect in JSON with gzip, brotli preferred back",
    open: () =>
      createConnectTransport({
        ...dialHttp1("TCP"),
        ...compressed,
        interceptors: interceptors("TCP"),
        useBinaryFormat: false,
        sendCompression: compressionGzip,
      }),
  },
  {
    name: "Connect in binary with brotli",
    open: () =>
      createConnectTransport({
        ...dialHttp2("TCP"),
        ...compressed,
        interceptors: interceptors("TCP"),
        sendCompression: compressionBrotli,
      }),
  },
  {
    name: "gRPC with gzip",
    open: () =>
      createGrpcTransport({
        ...dialHttp2("TCP"),
        ...compressed,
        interceptors: interceptors("TCP"),
        sendCompression: compressionGzip,
      }),
    cutsConflicts: true,
  },
  {
    name: "gRPC-Web with gzip",
    open: () =>
      createGrpcWebTransport({
        ...dialHttp1("TCP"),
        ...compressed,
        interceptors: interceptors("TCP"),
        sendCompression: compressionGzip,
      }),
  },
];

const doorTo = (transport: Transport): Door => ({
  async call(method, message, metadata) {
    const outcome = await callThrough(transport, method, message, metadata);
    if ("code" in outcome) throw new Refusal(outcome.code, outcome.text, rawDetails(outcome.details));
    return { message: outcome.message, metadata: (name) => outcome.headers[name] };
  },
});

describe.each([...clients, ...packed])("connect-node: $name", ({ open, cutsConflicts = false }) => {
  conversation(() => doorTo(open()), { cutsConflicts });
});

describe("a client that is not let in", () => {
  const codeOf = async (transport: Transport): Promise<Code> => {
    try {
      await createClient(MemoryService, transport).getCursor({});
    } catch (error) {
      return ConnectError.from(error).code;
    }
    throw new Error("it was let in");
  };

  test.each([
    ["Connect", () => createConnectTransport(dialHttp1("TCP"))],
    ["gRPC", () => createGrpcTransport(dialHttp2("TCP"))],
    ["gRPC-Web", () => createGrpcWebTransport(dialHttp1("TCP"))],
  ])("without a token is told so over %s", async (_name, open) => {
    expect(await codeOf(open())).toBe(Code.Unauthenticated);
  });

  test("with a wrong token is told the same, also over the socket", async () => {
    const wrong = [withToken("not-the-token")];
    const overTcp = createConnectTransport({ ...dialHttp1("TCP"), interceptors: wrong });
    const overSocket = createConnectTransport({
      ...dialHttp1("the socket"),
      interceptors: wrong,
    });
    expect([await codeOf(overTcp), await codeOf(overSocket)]).toEqual([
      Code.Unauthenticated,
      Code.Unauthenticated,
    ]);
  });
});
