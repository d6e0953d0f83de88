/** Working trees of tests, and what looks into them. */
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import * as nodeFiles from "node:fs/promises";
import { dirname, join } from "node:path";
import { createTreeReader } from "../../src/engines/tree.js";
import type { TreeFiles } from "../../src/engines/tree-walk.js";
import { systemClock } from "../../src/kernel/clock.js";
import type { Sight, TreeBudget, Wanted } from "../../src/memory/tree.js";
import { temporaryFolder } from "../support/folder.js";

export const plenty: TreeBudget = { maxBytes: 2 ** 30, maxMs: 60_000 };
export const digest: Wanted = { kind: "digest" };
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
export const file = (text: string): Sight => ({
  kind: "file",
  bytes: Buffer.byteLength(text),
  sha256: sha256(text),
});

export function write(folder: string, path: string, text: string): string {
  const whole = join(folder, path);
  mkdirSync(dirname(whole), { recursive: true });
  writeFileSync(whole, text);
  return whole;
}

/** A root with something outside of it. */
export function newTree(): { readonly root: string; readonly outside: string } {
  const folder = temporaryFolder();
  const root = join(folder, "root");
  mkdirSync(root);
  return { root, outside: join(folder, "outside") };
}

export type Files = Partial<TreeFiles>;

/** Looks at one place with a reader of its own. */
export const look = (
  root: string,
  path: string,
  wanted: Wanted = digest,
  files: Files = {},
  budget = plenty,
) =>
  createTreeReader({ clock: systemClock, files: { ...nodeFiles, ...files } }).within(root, budget, (sees) =>
    sees(path.split("/"), wanted),
  );

/** The system's own files, with every path that is opened noted. */
export function notingOpens(): { readonly files: Files; readonly opened: string[] } {
  const opened: string[] = [];
  const open: TreeFiles["open"] = (path, ...rest) => {
    opened.push(String(path));
    return nodeFiles.open(path, ...rest);
  };
  return { files: { open }, opened };
}

export const refusal = (code: string): Error => Object.assign(new Error(code), { code });
