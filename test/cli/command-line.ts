/** Runs the command line in this process, as `main.ts` does, with streams that remember what was written. */
import { tmpdir } from "node:os";
import { PassThrough, Readable } from "node:stream";
import { runCli } from "../../src/cli/run.js";
import { type Environment, readEnvironment } from "../../src/config/env.js";

export type RunOptions = {
  /** What comes in on stdin; nothing when left out. */
  readonly stdin?: string | Uint8Array;
  /** The variables that memoryd reads. */
  readonly variables?: Readonly<Record<string, string>>;
  /** The folder that the command runs in; one outside of any repository when left out. */
  readonly workingDir?: string;
  /** Whether all three streams are terminals. */
  readonly isTerminal?: boolean;
};

export type Ran = {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Stdout as the one JSON document that it must be. */
  readonly json: () => unknown;
  /** The error object on stderr, its last line. */
  readonly error: () => { readonly code: string; readonly reason: string; readonly message: string };
};

/** Without a home, so that a command which was given no folder fails instead of using the one of who runs the tests. */
export const environmentWith = (
  variables: Readonly<Record<string, string>> = {},
  workingDir = tmpdir(),
): Environment => ({ ...readEnvironment(), homeDir: "", variables, workingDir });

function sink(isTTY: boolean) {
  const stream = Object.assign(new PassThrough(), { isTTY, columns: 100 });
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  return { stream, text: () => Buffer.concat(chunks).toString("utf8") };
}

/** Runs `memoryd` with the arguments. */
export async function memoryd(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { stdin = "", variables = {}, workingDir, isTerminal = false } = options;
  const [stdout, stderr] = [sink(isTerminal), sink(isTerminal)];
  const input = Readable.from(stdin.length === 0 ? [] : [Buffer.from(stdin)]);
  const code = await runCli(args, {
    stdin: Object.assign(input, { isTTY: isTerminal }),
    stdout: stdout.stream,
    stderr: stderr.stream,
    environment: environmentWith(variables, workingDir),
  });
  const lastLine = () => stderr.text().trimEnd().split("\n").at(-1) ?? "";
  return {
    code,
    stdout: stdout.text(),
    stderr: stderr.text(),
    json: () => JSON.parse(stdout.text()),
    error: () => JSON.parse(lastLine()).error,
  };
}
