/** Calls over one kept cleartext HTTP/2 connection, plain or framed as gRPC has it. */
import { once } from "node:events";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { answerTimeoutMs, type Caller, type CallerOptions, refused } from "./caller.js";

const prefixBytes = 5;

/** One message that is not compressed. */
function framed(message: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(prefixBytes + message.length);
  frame.writeUInt8(0, 0);
  frame.writeUInt32BE(message.length, 1);
  message.copy(frame, prefixBytes);
  return frame;
}

function messageIn(frame: Buffer, path: string): Buffer {
  if (frame.length < prefixBytes || frame.readUInt32BE(1) !== frame.length - prefixBytes)
    throw refused(path, "a broken frame", frame);
  return frame.subarray(prefixBytes);
}

export async function openHttp2Caller(
  options: CallerOptions & { readonly isGrpc: boolean },
): Promise<Caller> {
  const { port, headers, isGrpc } = options;
  const session = connect(`http://127.0.0.1:${port}`);
  await once(session, "connect");
  session.on("error", () => {
    // Safe to go on: each call that is under way hears of it by its own stream.
  });

  const exchange = (path: string, body: Buffer): Promise<{ headers: IncomingHttpHeaders; body: Buffer }> =>
    new Promise((resolve, reject) => {
      const stream = session.request({ ":method": "POST", ":path": path, ...headers });
      const answered: IncomingHttpHeaders = {};
      const pieces: Buffer[] = [];
      stream
        .on("response", (received) => Object.assign(answered, received))
        .on("trailers", (received) => Object.assign(answered, received))
        .on("data", (piece: Buffer) => pieces.push(piece))
        .on("end", () => resolve({ headers: answered, body: Buffer.concat(pieces) }))
        .on("error", reject)
        .on("close", () => reject(new Error("the server closed the stream")))
        .setTimeout(answerTimeoutMs, () => stream.destroy(new Error("the server did not answer")));
      stream.end(body);
    });

  return {
    async call(path, message) {
      const { headers: answered, body } = await exchange(path, isGrpc ? framed(message) : message);
      const status = answered[":status"];
      if (Number(status) !== 200) throw refused(path, `status ${status}`, body);
      if (!isGrpc) return body;
      const code = answered["grpc-status"];
      if (code !== "0") throw refused(path, `grpc-status ${code} ${answered["grpc-message"] ?? ""}`, body);
      return messageIn(body, path);
    },
    close: () => session.destroy(),
  };
}
