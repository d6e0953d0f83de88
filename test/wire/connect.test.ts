/** The interceptor around every call: errors, outcomes, deadlines, and what it logs. */
import {
  Code,
  ConnectError,
  createClient,
  createConnectRouter,
  createContextValues,
  createRouterTransport,
  type ServiceImpl,
} from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { Health, HealthCheckResponse_ServingStatus as Serving } from "../../gen/health/v1/health_pb.js";
import { MemorydError } from "../../src/kernel/errors.js";
import type { Log, LogFields } from "../../src/kernel/log.js";
import { codeName, createCallInterceptor } from "../../src/wire/connect.js";
import { type Outcome, outcomeKey, requestIdKey } from "../../src/wire/context.js";

type Line = { readonly level: string; readonly fields: LogFields; readonly message: string };

/** A log that remembers its lines. */
function createRecorder(): { readonly log: Log; readonly lines: Line[] } {
  const lines: Line[] = [];
  const at = (level: string) => (fields: LogFields, message: string) =>
    void lines.push({ level, fields, message });
  return { lines, log: { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") } };
}

type Handlers = Partial<ServiceImpl<typeof Health>>;

type Asked = {
  readonly status: number;
  readonly text: string;
  readonly outcome: Outcome;
  readonly lines: Line[];
};

type AskOptions = {
  readonly method?: "Check" | "Watch";
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
};

/** Calls a method as the server does, with a place for the outcome and the request's id. */
async function ask(
  handlers: Handlers,
  { method = "Check", headers = {}, signal }: AskOptions = {},
): Promise<Asked> {
  const { log, lines } = createRecorder();
  const router = createConnectRouter({ interceptors: [createCallInterceptor(log)] });
  router.service(Health, handlers);
  const handler = router.handlers.find(({ requestPath }) => requestPath.endsWith(`/${method}`));
  const outcome: Outcome = { code: "" };
  const isStream = method === "Watch";
  const message = Buffer.from("{}");
  const framed = Buffer.concat([Buffer.from([0, 0, 0, 0, message.length]), message]);
  const answer = await handler?.({
    httpVersion: "2.0",
    url: `https://memoryd.invalid${handler.requestPath}`,
    method: "POST",
    header: new Headers({
      "content-type": isStream ? "application/connect+json" : "application/json",
      ...headers,
    }),
    body: (async function* () {
      yield isStream ? framed : message;
    })(),
    signal: signal ?? new AbortController().signal,
    contextValues: createContextValues().set(outcomeKey, outcome).set(requestIdKey, "request-7"),
  });
  let text = "";
  for await (const chunk of answer?.body ?? []) text += Buffer.from(chunk).toString("utf8");
  return { status: answer?.status ?? 0, text, outcome, lines };
}

const throwing = (error: unknown): Handlers => ({
  check: () => {
    throw error;
  },
});

/** A handler that never ends, after it did something. */
const hanging = (first: () => void = () => {}): Handlers => ({
  check: () => {
    first();
    return new Promise(() => {});
  },
});

const codes = Object.values(Code).filter((code) => typeof code === "number");

test.each(codes)("the name of code %i is as the protocol spells it", async (code) => {
  const { text } = await ask(throwing(new ConnectError("x", code)));
  expect(codeName(code)).toBe(JSON.parse(text).code);
});

test("the names of the codes are those of the protocol", () => {
  expect(codes.map(codeName)).toEqual([
    "canceled",
    "unknown",
    "invalid_argument",
    "deadline_exceeded",
    "not_found",
    "already_exists",
    "permission_denied",
    "resource_exhausted",
    "failed_precondition",
    "aborted",
    "out_of_range",
    "unimplemented",
    "internal",
    "unavailable",
    "data_loss",
    "unauthenticated",
  ]);
  expect(codeName(99 as Code)).toBe("unknown");
});

describe("a call", () => {
  test("that is answered has the outcome ok and logs nothing", async () => {
    const { status, outcome, lines } = await ask({ check: () => ({ status: Serving.SERVING }) });
    expect([status, outcome.code, lines]).toEqual([200, "ok", []]);
  });

  test("that is refused has the code as its outcome and logs nothing", async () => {
    const { status, text, outcome, lines } = await ask(
      throwing(new MemorydError("not_found", "No such thing.")),
    );
    expect([status, outcome.code, lines]).toEqual([404, "not_found", []]);
    expect(JSON.parse(text)).toMatchObject({ code: "not_found", message: "No such thing." });
  });

  test("that fails for a reason of our own says so in a fixed text, and its cause is logged once", async () => {
    const cause = new Error("s3cr3t-words");
    const { status, text, outcome, lines } = await ask(throwing(cause));
    expect([status, outcome.code]).toEqual([500, "internal"]);
    expect(text).not.toContain("s3cr3t-words");
    expect(lines).toEqual([
      {
        level: "error",
        fields: { requestId: "request-7", method: "grpc.health.v1.Health/Check", error: cause },
        message: expect.any(String),
      },
    ]);
  });

  test("that throws what is no error at all is hidden and logged as well", async () => {
    const { status, text, lines } = await ask(throwing("s3cr3t-words"));
    expect(status).toBe(500);
    expect(text).not.toContain("s3cr3t-words");
    expect(lines).toHaveLength(1);
  });

  test("that is unavailable for some cause has it logged, so that somebody can find it", async () => {
    const cause = new Error("ENOSPC");
    const { outcome, lines } = await ask(throwing(new MemorydError("unavailable", "Try again.", { cause })));
    expect(outcome.code).toBe("unavailable");
    expect(lines).toMatchObject([{ fields: { requestId: "request-7", error: { cause } } }]);
  });

  test("ends at its deadline though its handler goes on", async () => {
    const { status, text, outcome, lines } = await ask(hanging(), {
      headers: { "connect-timeout-ms": "20" },
    });
    expect([status, outcome.code, lines]).toEqual([504, "deadline_exceeded", []]);
    expect(JSON.parse(text).code).toBe("deadline_exceeded");
  });

  test("whose caller has gone is canceled and is no failure of ours", async () => {
    const caller = new AbortController();
    const { outcome, lines } = await ask(
      hanging(() => caller.abort()),
      { signal: caller.signal },
    );
    expect([outcome.code, lines]).toEqual(["canceled", []]);
  });

  test("in process needs no place for its outcome", async () => {
    const { log } = createRecorder();
    const transport = createRouterTransport(
      (router) => void router.service(Health, { check: () => ({ status: Serving.SERVING }) }),
      { router: { interceptors: [createCallInterceptor(log)] } },
    );
    expect((await createClient(Health, transport).check({})).status).toBe(Serving.SERVING);
  });
});

describe("a stream", () => {
  const failingWith = (error: unknown): Handlers => ({
    watch: async function* () {
      yield { status: Serving.SERVING };
      throw error;
    },
  });

  test("that ends well has the outcome ok", async () => {
    const handlers: Handlers = {
      watch: async function* () {
        yield { status: Serving.SERVING };
        yield { status: Serving.NOT_SERVING };
      },
    };
    const { status, text, outcome, lines } = await ask(handlers, { method: "Watch" });
    expect([status, outcome.code, lines]).toEqual([200, "ok", []]);
    expect(text).toContain("NOT_SERVING");
  });

  test("that fails on its way says so at its end, with the cause in the log", async () => {
    const cause = new Error("s3cr3t-words");
    const { text, outcome, lines } = await ask(failingWith(cause), { method: "Watch" });
    expect(outcome.code).toBe("internal");
    expect(text).toContain("SERVING");
    expect(text).toContain('"internal"');
    expect(text).not.toContain("s3cr3t-words");
    expect(lines).toMatchObject([
      { level: "error", fields: { method: "grpc.health.v1.Health/Watch", error: cause } },
    ]);
  });

  test("that is refused on its way has that code", async () => {
    const stopping = new MemorydError("unavailable", "The daemon is stopping.");
    const { text, outcome, lines } = await ask(failingWith(stopping), { method: "Watch" });
    expect([outcome.code, lines]).toEqual(["unavailable", []]);
    expect(text).toContain("The daemon is stopping.");
  });
});
