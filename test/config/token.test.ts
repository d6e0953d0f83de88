/** The operator token (daemon.md D20): made once, private, refused when it was not. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import { ensureOperatorToken, readOperatorToken, readTokenFile } from "../../src/config/token.js";
import { compile } from "../support/compile.js";
import { temporaryFolder } from "../support/folder.js";
import { verifies } from "../support/verifies.js";

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

function fileWith(text: string, mode = 0o600): string {
  const file = join(temporaryFolder(), "token");
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

describe("the operator token", () => {
  verifies("D20", "is 32 random bytes in a file that only its owner can read, and made once", () => {
    const file = join(temporaryFolder(), "state", "operator-token");
    const token = ensureOperatorToken(file);
    expect(Buffer.from(token, "base64url")).toHaveLength(32);
    expect([modeOf(file), modeOf(join(file, ".."))]).toEqual(["600", "700"]);
    expect(readFileSync(file, "utf8")).toBe(`${token}\n`);
    expect(ensureOperatorToken(file)).toBe(token);
    expect(readOperatorToken(file)).toBe(token);
  });

  test("is another one in another folder", () => {
    const folder = temporaryFolder();
    expect(ensureOperatorToken(join(folder, "a"))).not.toBe(ensureOperatorToken(join(folder, "b")));
  });

  test.each([0o644, 0o640, 0o604, 0o620, 0o602, 0o610, 0o677])("is refused with mode %o", (mode) => {
    const file = fileWith(`${"x".repeat(43)}\n`, mode);
    for (const read of [readOperatorToken, readTokenFile, ensureOperatorToken]) {
      expect(() => read(file)).toThrow(/chmod 600/);
    }
    expect(readFileSync(file, "utf8")).toBe(`${"x".repeat(43)}\n`);
  });

  test("is taken with fewer rights than 0600", () => {
    expect(readOperatorToken(fileWith("x".repeat(43), 0o400))).toBe("x".repeat(43));
  });

  test.each([
    "",
    "\n",
    "short",
    `${"x".repeat(43)}\n\n`,
    ` ${"x".repeat(43)}`,
    "x".repeat(44),
    "x".repeat(9_000),
  ])("is refused and left alone when the file holds something else (%#)", (text) => {
    const file = fileWith(text);
    expect(() => readOperatorToken(file)).toThrow(/delete it, and memoryd serve makes a new one/);
    expect(() => ensureOperatorToken(file)).toThrow(/delete it/);
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  test("that is not there is not found, and the sentence says who makes it", () => {
    const file = join(temporaryFolder(), "none");
    expect(() => readOperatorToken(file)).toThrow(expect.objectContaining({ code: "not_found" }));
    expect(() => readOperatorToken(file)).toThrow(/memoryd serve makes/);
  });

  test("is never read from a folder", () => {
    const folder = join(temporaryFolder(), "token");
    mkdirSync(folder, { mode: 0o700 });
    expect(() => readOperatorToken(folder)).toThrow(/is no file that holds a token/);
  });

  test("never stands in an error's text", () => {
    const file = fileWith("not-the-right-form-of-a-token");
    expect(() => readOperatorToken(file)).toThrow(expect.not.stringContaining("not-the-right"));
  });

  test("made by twenty at the same moment is one token", async () => {
    const folder = temporaryFolder();
    const [module] = compile(["src/config/token.ts"], join(folder, "compiled"));
    const file = join(folder, "state", "operator-token");
    const creators = 20;
    const gate = new Int32Array(new SharedArrayBuffer(8));
    const program = `
      const { parentPort, workerData: { module, file, gate, creators } } = require("node:worker_threads");
      import(module).then(({ ensureOperatorToken }) => {
        if (Atomics.add(gate, 0, 1) + 1 === creators) { Atomics.store(gate, 1, 1); Atomics.notify(gate, 1); }
        Atomics.wait(gate, 1, 0);
        parentPort.postMessage(ensureOperatorToken(file));
      });`;
    const workerData = { module: pathToFileURL(module as string).href, file, gate, creators };
    const tokens = await Promise.all(
      Array.from({ length: creators }, () => {
        const worker = new Worker(program, { eval: true, workerData });
        return new Promise<string>((resolve, reject) =>
          worker.once("message", resolve).once("error", reject),
        );
      }),
    );
    expect(new Set(tokens)).toEqual(new Set([readOperatorToken(file)]));
    expect(readdirSync(join(folder, "state"))).toEqual(["operator-token"]);
  });
});

describe("a token file that a person wrote", () => {
  test.each(["a-token-of-16-char", "a-token-of-16-char\n", "a-token-of-16-char\r\n"])(
    "may end its line: %j",
    (text) => {
      expect(readTokenFile(fileWith(text))).toBe("a-token-of-16-char");
    },
  );

  test.each(["two words in one line", "a-token-of-16-char\nanother-token-of-16", "ä-token-of-16-char"])(
    "holds one token and nothing else: %j",
    (text) => {
      expect(() => readTokenFile(fileWith(text))).toThrow(/write one into it/);
    },
  );
});
