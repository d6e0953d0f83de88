/** The platform's limit: servers of Node itself that read a request and answer `{}`. */
import * as http from "node:http";
import * as http2 from "node:http2";
import type { AddressInfo, Server } from "node:net";
import type { PlatformPorts } from "../jobs.js";
import { answerQuestions } from "../processes.js";

const headers = { "content-type": "application/json", "content-length": "2" };

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

const answerHttp1 = (request: http.IncomingMessage, response: http.ServerResponse): void => {
  request.resume().once("end", () => response.writeHead(200, headers).end("{}"));
};

const answerHttp2 = (request: http2.Http2ServerRequest, response: http2.Http2ServerResponse): void => {
  request.resume().once("end", () => response.writeHead(200, headers).end("{}"));
};

answerQuestions(
  async (): Promise<PlatformPorts> => ({
    http1: await portOf(http.createServer(answerHttp1)),
    http2: await portOf(http2.createServer(answerHttp2)),
  }),
);
