/** Writers that keep a daemon busy over several connections and protocols, and note in a ledger what they see. */
import { create } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type CallOptions, type Client, createClient, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  Http2SessionManager,
} from "@connectrpc/connect-node";
import {
  MemoryRefKind,
  MemorySchema,
  MemoryService,
  MemoryType,
} from "../../../gen/magus/memory/v1/memory_pb.js";
import type { Daemon } from "../../support/daemon.js";
import type { Seeded } from "../../support/seeded.js";
import { withToken } from "../connect-door.js";
import type { Stored } from "./inspect.js";
import { type Ledger, partsOf, type Write } from "./ledger.js";

export type MemoryClient = Client<typeof MemoryService>;

/** Clients over five connections of five kinds; close them when the daemon is gone. */
export function connectClients({ url, socket, token }: Daemon): {
  readonly clients: readonly MemoryClient[];
  readonly close: () => void;
} {
  const interceptors = [withToken(token)];
  const sessions = [new Http2SessionManager(url), new Http2SessionManager(url)] as const;
  const [first, second] = sessions;
  const nodeOptions = { socketPath: socket };
  const transports: readonly Transport[] = [
    createConnectTransport({ baseUrl: url, httpVersion: "1.1", interceptors, useBinaryFormat: false }),
    createConnectTransport({ baseUrl: url, httpVersion: "2", interceptors, sessionManager: first }),
    createGrpcTransport({ baseUrl: url, interceptors, sessionManager: second }),
    createGrpcWebTransport({ baseUrl: url, httpVersion: "1.1", interceptors }),
    createConnectTransport({ baseUrl: "http://localhost", httpVersion: "1.1", nodeOptions }),
  ];
  return {
    clients: transports.map((transport) => createClient(MemoryService, transport)),
    close: () => {
      for (const session of sessions) session.abort();
    },
  };
}

/** The update time of an answer in milliseconds. */
async function send(client: MemoryClient, { workspace, name, text }: Write): Promise<number | undefined> {
  let updateTime = "";
  const options: CallOptions = {
    headers: { "memoryd-workspace": workspace },
    onHeader: (headers) => {
      updateTime = headers.get("memoryd-update-time") ?? "";
    },
  };
  if (name === "") {
    await client.updateCursor({ content: text ?? "" }, options);
    return Date.parse(updateTime);
  }
  if (text === undefined) {
    await client.deleteMemory({ name }, options);
    return undefined;
  }
  const { status, body, targets, links } = partsOf(text);
  const memory = create(MemorySchema, {
    name,
    type: MemoryType.DECISION,
    refs: targets.map((target) => ({ kind: MemoryRefKind.NODE, target })),
    status,
    body,
    references: links,
  });
  const answer = await client.updateMemory({ memory, allowMissing: true }, options);
  const time = answer.memory?.updateTime;
  return time === undefined ? undefined : timestampMs(time);
}

/** Makes one write and notes it; rejects when it is not acknowledged. */
export async function write(client: MemoryClient, ledger: Ledger, wanted: Write): Promise<void> {
  const acknowledge = ledger.begin(wanted);
  acknowledge(await send(client, wanted));
}

export type WriterOptions = {
  readonly client: MemoryClient;
  readonly ledger: Ledger;
  readonly chance: Seeded;
  readonly workspace: string;
  /** Begins each of its texts and names, so that they are its own. */
  readonly mark: string;
  /** How its workspace was found at the start. */
  readonly stored: Stored | undefined;
  /** Whether a call may fail now, because the daemon was killed. */
  readonly isOver: () => boolean;
};

const namesOfWriter = 6;
/** A workspace keeps 51 revisions of its cursor; writing more would trim what is to be looked for. */
const mostCursorWrites = 8;

/** Creates, updates, deletes and writes the cursor until the daemon is gone. */
export async function keepWriting(options: WriterOptions): Promise<void> {
  const { client, ledger, chance, workspace, mark, stored, isOver } = options;
  const writer = mark.split("-").at(-1);
  const names = Array.from({ length: namesOfWriter }, (_, index) => `${writer}-${index}`);
  const live = new Set(names.filter((name) => stored?.has(name)));
  let cursorWrites = 0;
  for (let count = 0; ; count += 1) {
    const text = `${mark}-${count}`;
    const name = names[chance.below(names.length)] ?? "";
    const dice = chance.below(10);
    let wanted: Write = { workspace, name, text };
    if (dice === 0 && cursorWrites < mostCursorWrites) wanted = { workspace, name: "", text };
    else if (dice < 4 && live.has(name)) wanted = { workspace, name, text: undefined };
    try {
      await write(client, ledger, wanted);
    } catch (error) {
      if (isOver()) return;
      throw error;
    }
    if (wanted.name === "") cursorWrites += 1;
    else if (wanted.text === undefined) live.delete(name);
    else live.add(name);
  }
}
