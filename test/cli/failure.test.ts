/** Faults that no command line provokes by itself: of the system, of the connection, of whoever answers, of our own. */
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { memorydErrorFrom } from "../../src/cli/failure.js";
import { instanceHeader } from "../../src/config/proof.js";
import { MemorydError } from "../../src/kernel/errors.js";
import { temporaryFolder } from "../support/folder.js";
import { memoryd } from "./command-line.js";

describe("an error that was thrown", () => {
  test("is kept when it is ours", () => {
    const error = new MemorydError("not_found", "There is none.");
    expect(memorydErrorFrom(error)).toBe(error);
  });

  test.each([
    [
      new TypeError("x is not a function"),
      "internal",
      /fault of memoryd itself \(TypeError: x is not a function\)/,
    ],
    ["a text", "internal", /\(thrown: a text\)/],
    [
      Object.assign(new Error("no"), { code: "EACCES", path: "/var/a" }),
      "failed_precondition",
      /^\/var\/a cannot be used \(EACCES\)/,
    ],
    [Object.assign(new Error("no"), { code: "ECONNREFUSED" }), "unavailable", /does not answer any more/],
  ])("%s becomes one sentence", (thrown, code, says) => {
    const error = memorydErrorFrom(thrown);
    expect(error.message).toMatch(says);
    expect(error.code).toBe(code);
  });
});

describe("an address where something else answers", () => {
  /** Runs commands against a stranger who is taken for a daemon at first. */
  async function atStranger(answer: RequestListener) {
    const server = createServer((request, response) => {
      if (request.url === "/livez") response.setHeader(instanceHeader, "another").end("{}");
      else answer(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return (args: readonly string[]) =>
      memoryd([...args, "--json", "--url", url, "--data-dir", join(temporaryFolder(), "none")]);
  }

  test.each([
    ["a page", 200, "text/html", "<html>"],
    ["a page that says no", 404, "text/html", "<html>"],
    ["JSON of another sort", 500, "application/json", '{"error": 1}'],
    ["no object", 200, "application/json", "3"],
  ])("with %s is told apart from a daemon", async (_what, status, type, body) => {
    const run = await atStranger((_request, response) => {
      response.writeHead(status, { "content-type": type }).end(body);
    });
    for (const command of [["status"], ["stop"], ["memory", "ls"], ["memory", "cursor"]]) {
      const { code, error } = await run(command);
      expect(error()).toMatchObject({ code: "unavailable", reason: "UNEXPECTED_ANSWER" });
      expect(error().message).toMatch(/check whose address that is\.$/);
      expect(code).toBe(9);
    }
  });

  test("that hangs up is no conflict", async () => {
    const run = await atStranger((request) => void request.socket.destroy());
    for (const [command, reason] of [
      [["status"], "DAEMON_SILENT"],
      [["memory", "delete", "a"], "CALL_BROKEN_OFF"],
    ] as const) {
      const { code, error } = await run(command);
      expect(error()).toMatchObject({ code: "unavailable", reason });
      expect(error().message).toMatch(/\.$/);
      expect(code).toBe(9);
    }
  });
});
