/** Calls over one kept HTTP/1.1 connection, each sent as one piece of bytes. */
import { connect } from "node:net";
import { answerTimeoutMs, type Caller, type CallerOptions, refused } from "./caller.js";
import { createHttp1Answers, type Http1Answer } from "./http1-answers.js";

type Waiting = { readonly resolve: (answer: Http1Answer) => void; readonly reject: (error: Error) => void };

export async function openHttp1Caller({ port, headers }: CallerOptions): Promise<Caller> {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = ` HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${lines.join("")}content-length: `;
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject).once("connect", () => {
      socket.off("error", reject);
      resolve();
    });
  });
  let waiting: Waiting | undefined;
  const fail = (error: Error): void => {
    waiting?.reject(error);
    waiting = undefined;
    socket.destroy();
  };
  const read = createHttp1Answers((answer) => {
    const { resolve } = waiting ?? {};
    waiting = undefined;
    resolve?.(answer);
  });
  socket
    .on("data", (chunk: Buffer) => {
      try {
        read(chunk);
      } catch (error) {
        fail(error as Error);
      }
    })
    .on("error", fail)
    .on("close", () => fail(new Error("the server closed the connection")))
    .setTimeout(answerTimeoutMs, () => fail(new Error("the server did not answer")));
  return {
    async call(path, body) {
      const start = Buffer.from(`POST ${path}${head}${body.length}\r\n\r\n`, "latin1");
      const answer = await new Promise<Http1Answer>((resolve, reject) => {
        waiting = { resolve, reject };
        socket.write(Buffer.concat([start, body]));
      });
      if (answer.status !== 200) throw refused(path, `status ${answer.status}`, answer.body);
      return answer.body;
    },
    close: () => socket.destroy(),
  };
}
