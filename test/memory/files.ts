/** Files of records as tests write them, and the vectors of `test/vectors/memory-files`. */
import { readFileSync } from "node:fs";
import { expect } from "vitest";
import type { ExportRecordsResponse, ExportSummary } from "../../gen/memoryd/records/v1/records_pb.js";

export type FileInit = { readonly path: string; readonly content: Uint8Array };

/** A text, or pieces of it, some of them repeated. */
type Content = string | readonly (string | readonly [string, number])[];

export const textOf = (content: Content): string =>
  typeof content === "string"
    ? content
    : content.map((piece) => (typeof piece === "string" ? piece : piece[0].repeat(piece[1]))).join("");

export const fileOf = (path: string, content: Content): FileInit => ({
  path,
  content: Buffer.from(textOf(content), "utf8"),
});

const vectorsIn = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../vectors/memory-files/${name}.json`, import.meta.url), "utf8"));

export const earlierTool = vectorsIn("earlier-tool") as {
  readonly files: Readonly<Record<string, string>>;
  readonly says: readonly {
    readonly name: string;
    readonly type: number;
    readonly refs: readonly (readonly [number, string])[];
    readonly status: string;
    readonly body: string;
    readonly references: readonly string[];
    readonly created: string;
    readonly updated: string | null;
  }[];
  readonly writtenBack: Readonly<Record<string, string>>;
};

export const refusedFiles = (
  vectorsIn("refused") as {
    readonly files: readonly {
      readonly title: string;
      readonly path: string;
      readonly content: Content;
      readonly reason: string;
      readonly says?: string;
    }[];
  }
).files;

export const importCases = (
  vectorsIn("import") as {
    readonly cases: readonly {
      readonly title: string;
      readonly file: Readonly<Record<string, string | number>>;
      readonly mode: "UNSPECIFIED" | "SKIP_EXISTING" | "KEEP_NEWER" | "REPLACE";
      readonly outcome: string;
      readonly reason: string;
    }[];
  }
).cases;

/** A decision's file with these further keys. */
export const decisionFile = (
  name: string,
  keys: Readonly<Record<string, string | number>> = {},
  body = "",
): FileInit => {
  const lines = Object.entries(keys).map(([key, value]) => `${key}: ${value}\n`);
  const text = `---\ntype: decision\nrefs: [{kind: node, target: "file:src/cache.ts"}]\n${lines.join("")}---\n${body}`;
  return fileOf(`records/${name}.md`, text);
};

export type Exported = {
  readonly files: readonly FileInit[];
  /** Path to text. */
  readonly texts: Readonly<Record<string, string>>;
  readonly summary: ExportSummary;
};

/** All of an export. */
export async function exportedFrom(answers: AsyncIterable<ExportRecordsResponse>): Promise<Exported> {
  const files: FileInit[] = [];
  let summary: ExportSummary | undefined;
  for await (const { part } of answers) {
    expect(summary).toBeUndefined();
    if (part.case === "file") files.push({ path: part.value.path, content: part.value.content });
    if (part.case === "summary") summary = part.value;
  }
  const texts = Object.fromEntries(
    files.map(({ path, content }) => [path, Buffer.from(content).toString("utf8")]),
  );
  return { files, texts, summary: summary ?? expect.fail("the export has no summary") };
}
