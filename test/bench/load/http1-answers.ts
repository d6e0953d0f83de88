/**
 * Reads HTTP/1.1 answers from chunks of a connection: bodies with a length and in chunks, which is all that
 * the servers measured here send. Node's own client costs more than the server it would measure.
 */

export type Http1Answer = { readonly status: number; readonly body: Buffer };

const headEnd = Buffer.from("\r\n\r\n");
const lineEnd = Buffer.from("\r\n");

type State = "head" | "body" | "chunk size" | "chunk" | "after chunk" | "trailer";

export function createHttp1Answers(take: (answer: Http1Answer) => void): (chunk: Buffer) => void {
  let state: State = "head";
  let rest: Buffer = Buffer.alloc(0);
  let status = 0;
  /** Bytes that are still missing of the body or of its chunk. */
  let missing = 0;
  let pieces: Buffer[] = [];

  function finish(): void {
    const body = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
    pieces = [];
    state = "head";
    take({ status, body });
  }

  function readHead(head: string): void {
    status = Number(head.slice(9, 12));
    const length = /^content-length: *(\d+)\r?$/im.exec(head)?.[1];
    if (/^transfer-encoding: *chunked\r?$/im.test(head)) {
      state = "chunk size";
      return;
    }
    if (length === undefined) throw new Error(`an answer ${status} has neither a length nor chunks`);
    missing = Number(length);
    state = "body";
    if (missing === 0) finish();
  }

  /** Takes what is there of the body; true when it is whole. */
  function takeBytes(): boolean {
    const piece = rest.subarray(0, missing);
    rest = rest.subarray(piece.length);
    missing -= piece.length;
    if (piece.length > 0) pieces.push(piece);
    return missing === 0;
  }

  function takeUntil(end: Buffer): string | undefined {
    const at = rest.indexOf(end);
    if (at < 0) return undefined;
    const text = rest.toString("latin1", 0, at);
    rest = rest.subarray(at + end.length);
    return text;
  }

  /** One step; false when more bytes are needed for it. */
  function step(): boolean {
    if (state === "body" || state === "chunk") {
      if (!takeBytes()) return false;
      if (state === "body") finish();
      else state = "after chunk";
      return true;
    }
    const text = takeUntil(state === "head" ? headEnd : lineEnd);
    if (text === undefined) return false;
    if (state === "head") readHead(text);
    else if (state === "after chunk") state = "chunk size";
    else if (state === "chunk size") {
      missing = Number.parseInt(text, 16);
      state = missing === 0 ? "trailer" : "chunk";
    } else if (text === "") finish();
    return true;
  }

  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length > 0 && step());
  };
}
