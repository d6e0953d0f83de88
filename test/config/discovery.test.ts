/** The discovery file (daemon.md D4) and the note of a start that failed (D5). */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import {
  type Discovery,
  readDiscovery,
  readStartFailure,
  removeDiscovery,
  writeDiscovery,
  writeStartFailure,
} from "../../src/config/discovery.js";
import { compile } from "../support/compile.js";
import { temporaryFolder } from "../support/folder.js";

const discovery: Discovery = {
  url: "http://127.0.0.1:7411",
  socket: "/run/memoryd.sock",
  pid: 42,
  startTime: "2026-11-30T12:00:00.000Z",
  version: "1.2.3",
  instance: "abc",
};

describe("the discovery file", () => {
  test("reads as it was written, and only its owner may read it", () => {
    const file = join(temporaryFolder(), "state", "daemon.json");
    writeDiscovery(file, discovery);
    expect(readDiscovery(file)).toEqual(discovery);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(file, ".."))).toEqual(["daemon.json"]);
  });

  test("may name one way in only", () => {
    const file = join(temporaryFolder(), "daemon.json");
    const { url: _url, ...onSocket } = discovery;
    const { socket: _socket, ...onTcp } = discovery;
    for (const one of [onSocket, { ...onTcp, withoutToken: true }]) {
      writeDiscovery(file, one);
      expect(readDiscovery(file)).toEqual(one);
    }
  });

  test("is absent when there is none, and when it cannot be read", () => {
    const folder = temporaryFolder();
    expect(readDiscovery(join(folder, "daemon.json"))).toBeUndefined();
    expect(readDiscovery(folder)).toBeUndefined();
  });

  test.each([
    "",
    "{",
    "null",
    "7",
    "[]",
    JSON.stringify({ ...discovery, url: undefined, socket: undefined }),
    JSON.stringify({ ...discovery, pid: "42" }),
    JSON.stringify({ ...discovery, instance: "" }),
    JSON.stringify({ ...discovery, version: undefined }),
  ])("counts as absent when it holds something else: %s", (text) => {
    const file = join(temporaryFolder(), "daemon.json");
    writeFileSync(file, text);
    expect(readDiscovery(file)).toBeUndefined();
  });

  test("is removed by the daemon that wrote it and by no other", () => {
    const file = join(temporaryFolder(), "daemon.json");
    writeDiscovery(file, discovery);
    removeDiscovery(file, "another");
    expect(readDiscovery(file)).toEqual(discovery);
    removeDiscovery(file, discovery.instance);
    expect(readDiscovery(file)).toBeUndefined();
    removeDiscovery(file, discovery.instance);
  });

  test("is whole at every moment while it is replaced", async () => {
    const folder = temporaryFolder();
    const [module] = compile(["src/config/discovery.ts"], join(folder, "compiled"));
    const file = join(folder, "daemon.json");
    writeDiscovery(file, discovery);
    const program = `
      const { parentPort, workerData: { module, file, discovery } } = require("node:worker_threads");
      import(module).then(({ writeDiscovery }) => {
        for (let round = 0; round < 300; round += 1) {
          writeDiscovery(file, { ...discovery, instance: "x".repeat(1 + (round % 2) * 5000) });
        }
        parentPort.postMessage("done");
      });`;
    const workerData = { module: pathToFileURL(module as string).href, file, discovery };
    const worker = new Worker(program, { eval: true, workerData });
    let isDone = false;
    const ended = new Promise<void>((resolve, reject) => {
      worker.once("error", reject).once("message", () => {
        isDone = true;
        resolve();
      });
    });
    const seen = new Set<number>();
    while (!isDone) {
      for (let read = 0; read < 50; read += 1) {
        const text = readFileSync(file, "utf8");
        expect(text.endsWith("}\n")).toBe(true);
        seen.add(JSON.parse(text).instance.length);
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    await ended;
    expect(seen).toContain(5001);
  });
});

describe("the note of a failed start", () => {
  const failure = { at: 1_000, reason: "PORT_TAKEN", message: "Port 7411 is taken." };

  test("reads as it was written, and the newer one replaces it", () => {
    const file = join(temporaryFolder(), "state", "start-failure.json");
    expect(readStartFailure(file)).toBeUndefined();
    writeStartFailure(file, failure);
    writeStartFailure(file, { ...failure, at: 2_000 });
    expect(readStartFailure(file)).toEqual({ ...failure, at: 2_000 });
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test.each(["", "{}", JSON.stringify({ ...failure, at: "now" })])(
    "counts as absent when it holds %j",
    (text) => {
      const file = join(temporaryFolder(), "start-failure.json");
      writeFileSync(file, text);
      expect(readStartFailure(file)).toBeUndefined();
    },
  );
});
