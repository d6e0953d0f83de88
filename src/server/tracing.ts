/**
 * OpenTelemetry traces (daemon.md D15): one server span for each RPC, under the caller's span when it sent a
 * `traceparent`. The SDK reads the standard `OTEL_*` variables itself and is no dependency of ours: it is
 * loaded only when they ask for traces, and when it is not installed one warning says what to install.
 *
 * A span carries the method, the protocol, the outcome and the request's id; never content or tokens.
 */
import type { Span, Tracer } from "@opentelemetry/api";
import type { Log } from "../kernel/log.js";
import type { HttpRequest } from "./message.js";

export type RpcSpan = {
  /** Runs `work` with this span as the active one. */
  readonly run: <T>(work: () => T) => T;
  /** `code` is `ok` or a Connect code's name. */
  readonly end: (code: string) => void;
};

export type Tracing = {
  readonly startSpan: (label: string, protocol: string, requestId: string, request: HttpRequest) => RpcSpan;
  /** Sends what is not sent yet; gives up after a moment, so that no exit waits for a collector. */
  readonly close: () => Promise<void>;
};

const sdkPackage = "@opentelemetry/sdk-node";
const closeTimeoutMs = 2_000;
/** The codes that say that the daemon failed, not that the caller asked for something that cannot be had. */
const serverFaults: ReadonlySet<string> = new Set([
  "unknown",
  "internal",
  "unavailable",
  "data_loss",
  "deadline_exceeded",
]);

type Sdk = { readonly start: () => void; readonly shutdown: () => Promise<void> };
type SdkModule = { readonly NodeSDK: new (options: { readonly instrumentations: readonly [] }) => Sdk };

async function loadSdk(log: Log): Promise<Sdk | undefined> {
  try {
    // Named by a variable, because it need not be there when this file is compiled or run.
    const { NodeSDK } = (await import(sdkPackage)) as SdkModule;
    return new NodeSDK({ instrumentations: [] });
  } catch (error) {
    log.warn(
      { error },
      `No traces are written: the OTEL_* variables ask for them, but ${sdkPackage} cannot be loaded. Install it beside memoryd, or unset them.`,
    );
    return undefined;
  }
}

/** Starts tracing; `undefined` when the SDK is not there. Call it only when the environment asks for traces. */
export async function startTracing(version: string, log: Log): Promise<Tracing | undefined> {
  const sdk = await loadSdk(log);
  if (sdk === undefined) return undefined;
  const { context, propagation, SpanKind, SpanStatusCode, trace } = await import("@opentelemetry/api");
  sdk.start();
  const tracer: Tracer = trace.getTracer("memoryd", version);

  const endSpan = (span: Span, code: string): void => {
    span.setAttribute("rpc.response.status_code", code);
    if (serverFaults.has(code)) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  };

  return {
    startSpan: (label, protocol, requestId, request) => {
      const parent = propagation.extract(context.active(), request.headers);
      const [service = "", method = ""] = label.split("/");
      const span = tracer.startSpan(
        label,
        {
          kind: SpanKind.SERVER,
          attributes: {
            "rpc.system": protocol.startsWith("grpc") ? "grpc" : "connect_rpc",
            "rpc.service": service,
            "rpc.method": method,
            "memoryd.request_id": requestId,
          },
        },
        parent,
      );
      const active = trace.setSpan(parent, span);
      return { run: (work) => context.with(active, work), end: (code) => endSpan(span, code) };
    },
    close: () =>
      Promise.race([
        sdk.shutdown().catch((error: unknown) => log.warn({ error }, "the last traces could not be sent")),
        new Promise<void>((resolve) => setTimeout(resolve, closeTimeoutMs).unref()),
      ]),
  };
}
