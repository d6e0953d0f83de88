/** What `doctor` looks at of the ways in: the socket and the port. A dead daemon's socket is removed. */
import { lstatSync, unlinkSync } from "node:fs";
import { connect, createServer } from "node:net";
import { portHolder } from "../../server/port-holder.js";
import { type Examination, type Finding, fault, isAtRest, well } from "./finding.js";

const probeTimeoutMs = 1_000;

/** Whether somebody takes connections at the socket; one that is too busy to does. */
function answers(socketFile: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketFile);
    const settle = (isAnswered: boolean): void => {
      socket.destroy();
      resolve(isAnswered);
    };
    socket.setTimeout(probeTimeoutMs, () => settle(true));
    socket.once("connect", () => settle(true)).once("error", () => settle(false));
  });
}

export const examineSocket: Examination = async (instance) => {
  const { config, daemon, silent } = instance;
  const { socketFile } = config.paths;
  const found = (finding: Finding): readonly Finding[] => [finding];
  if (!config.listen.socket) return found(well("socket", "It is turned off."));
  if (socketFile === undefined)
    return found(well("socket", "No path for it is short enough here; the port serves alone."));
  const stat = lstatSync(socketFile, { throwIfNoEntry: false });
  if (stat === undefined) return found(well("socket", `${socketFile} is made by the daemon.`));
  if (!stat.isSocket())
    return found(
      fault("socket", `${socketFile} is in the way of the socket and is none; move it elsewhere.`),
    );
  const isAnswered = await answers(socketFile);
  const ours = daemon?.socket ?? silent?.socket;
  if (ours === socketFile && isAnswered) return found(well("socket", `${socketFile} is the daemon's.`));
  if (isAnswered) {
    return found(
      fault("socket", `Another program serves ${socketFile}; stop it, or start memoryd with --no-socket.`),
    );
  }
  if (daemon !== undefined) {
    const sentence = `${socketFile} was left by an earlier daemon; the one that runs serves none, and the next that does replaces it.`;
    return found(well("socket", sentence));
  }
  const sentence = `${socketFile} was left by a daemon that is gone; delete it.`;
  if (!isAtRest(instance)) return found(fault("socket", sentence));
  return found(
    fault("socket", sentence, () => {
      unlinkSync(socketFile);
      return `Removed ${socketFile}.`;
    }),
  );
};

/** The system's code when nobody can listen there now; `undefined` when the port is free. */
function listenFailure(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.name));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

export const examinePort: Examination = async ({ config, daemon }) => {
  const { tcp, host, port } = config.listen;
  const place = `${host}, port ${port}`;
  if (!tcp) return [well("port", "TCP is turned off.")];
  if (daemon?.url !== undefined) return [well("port", `${daemon.url} is the daemon's.`)];
  if (port === 0) return [well("port", "Any free one is taken.")];
  const code = await listenFailure(host, port);
  if (code === undefined) return [well("port", `${place} is free.`)];
  if (code === "EADDRINUSE") {
    const holder = portHolder(port) ?? "another program";
    const sentence = `${place} is taken by ${holder}; stop it, or start memoryd with --port-fallback or another --listen.`;
    return [fault("port", sentence)];
  }
  return [fault("port", `Nobody can listen on ${place} (${code}); choose another address with --listen.`)];
};
