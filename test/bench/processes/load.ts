/** The load generator: so many clients on kept connections, each asking again when it was answered. */
import { runClosedLoop } from "../closed-loop.js";
import type { Caller } from "../load/caller.js";
import { openHttp1Caller } from "../load/http1-caller.js";
import { openHttp2Caller } from "../load/http2-caller.js";
import type { DaemonTarget, EmptyTarget, LoadJob, Wire } from "../load/job.js";
import { binaryCodec, jsonCodec, prepareOperation, workspaceOf } from "../load/operations.js";
import { answerQuestions } from "../processes.js";
import type { Rate } from "../statistics.js";

const contentTypes: Readonly<Record<Wire, string>> = {
  "Connect JSON": "application/json",
  "Connect binary": "application/proto",
  gRPC: "application/grpc+proto",
};

function openDaemonCaller({ port, token, wire, operation }: DaemonTarget): Promise<Caller> {
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": contentTypes[wire],
    "memoryd-workspace": workspaceOf[operation],
  };
  if (wire !== "gRPC") return openHttp1Caller({ port, headers });
  return openHttp2Caller({ port, headers: { ...headers, te: "trailers" }, isGrpc: true });
}

function openEmptyCaller({ port, isHttp2 }: EmptyTarget): Promise<Caller> {
  const headers = { "content-type": "application/json" };
  return isHttp2 ? openHttp2Caller({ port, headers, isGrpc: false }) : openHttp1Caller({ port, headers });
}

const emptyBody = Buffer.from("{}");

async function onceOf(target: LoadJob["target"], caller: Caller): Promise<(asking: Caller) => Promise<void>> {
  if (target.kind === "daemon") {
    const codec = target.wire === "Connect JSON" ? jsonCodec : binaryCodec;
    return (await prepareOperation(target.operation, codec, caller)).once;
  }
  return async (asking) => {
    const answer = await asking.call("/", emptyBody);
    if (!answer.equals(emptyBody)) throw new Error("the empty server did not answer {}");
  };
}

async function run({ target, clients, warmUpMs, measureMs }: LoadJob): Promise<Rate> {
  const open = () => (target.kind === "daemon" ? openDaemonCaller(target) : openEmptyCaller(target));
  const callers = await Promise.all(Array.from({ length: clients }, open));
  try {
    const once = await onceOf(target, callers[0] as Caller);
    return await runClosedLoop({
      clients,
      warmUpMs,
      measureMs,
      once: (client) => once(callers[client] as Caller),
    });
  } finally {
    for (const caller of callers) caller.close();
  }
}

answerQuestions(run);
