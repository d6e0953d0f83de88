/** A client's connection: one call at a time, and only a good answer is an answer. */
export interface Caller {
  /** The body of the answer; rejects unless the server says that all went well. */
  call(path: string, body: Buffer): Promise<Buffer>;
  close(): void;
}

export type CallerOptions = {
  readonly port: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
};

/** Longer than any answer takes, so that a server which hangs ends the run with a sentence. */
export const answerTimeoutMs = 60_000;

export const refused = (path: string, what: string, body: Buffer): Error =>
  new Error(`${path} was answered with ${what} ${body.toString("utf8", 0, 300)}`);
