/**
 * `memoryd serve` (daemon.md D1): the daemon in the foreground. Stdout gets exactly one line when it is ready;
 * the first call to copy goes to stderr, as logs do.
 */
import type { ReadyDaemon } from "../app.js";
import { writeStartFailure } from "../config/discovery.js";
import { type Config, readConfig } from "../config/load.js";
import { systemClock } from "../kernel/clock.js";
import { isMemorydError } from "../kernel/errors.js";
import type { CommandSpec, Invocation } from "./command.js";
import { settingsOf } from "./options.js";

/** Single quotes for a shell; paths may hold spaces. */
const quoted = (text: string): string =>
  /^[\w./:@=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** A call that works as it stands, by the address if there is one. */
export function firstCall({ url, socket }: ReadyDaemon, config: Config): string {
  const door = url ?? "http://localhost";
  const needsToken = url !== undefined && !config.access.insecureNoAuth;
  return [
    `curl ${quoted(`${door}/magus.memory.v1.MemoryService/ListMemories`)}`,
    ...(url === undefined && socket !== undefined ? [`--unix-socket ${quoted(socket)}`] : []),
    ...(config.tls.cert === undefined || url === undefined ? [] : [`--cacert ${quoted(config.tls.cert)}`]),
    ...(needsToken ? [`-H "authorization: Bearer $(cat ${quoted(config.paths.tokenFile)})"`] : []),
    "-H 'content-type: application/json'",
    "-d '{}'",
  ].join(" ");
}

/** The one line for people: an address to click, and the socket where there is no address. */
export function readyLine({ url, socket, pid, version }: ReadyDaemon): string {
  const where = [url, ...(socket === undefined ? [] : [`unix:${socket}`])].filter(
    (place) => place !== undefined,
  );
  return `memoryd ${version} is ready at ${where.join(" and ")} (process ${pid})`;
}

function announce(ready: ReadyDaemon, config: Config, { output, isJson }: Invocation): void {
  const { url, socket, pid, version } = ready;
  // Serving goes on when whoever started us does not read.
  const ignore = (): void => {};
  if (isJson) {
    output.json({ event: "ready", url, socket, pid, version }).catch(ignore);
    return;
  }
  output.write(`${readyLine(ready)}\n`).catch(ignore);
  // In the background, where stderr is a log, nobody copies anything.
  if (config.log.file !== undefined && !output.isErrorTerminal) return;
  output.note(`A first call to copy:\n\n  ${firstCall(ready, config)}\n`);
  if (output.isErrorTerminal) output.note("Ctrl-C stops the daemon.");
}

/** The configuration; what is wrong with it is also written where those wait who started us (D5). */
function configFor({ config, environment, flags }: Invocation): Config {
  try {
    return config();
  } catch (error) {
    if (isMemorydError(error)) {
      const { startFailureFile } = readConfig({ flags, environment }).config.paths;
      const { reason, message } = error;
      try {
        writeStartFailure(startFailureFile, { at: systemClock.nowMs(), reason, message });
      } catch {
        // Whoever waits runs into its own deadline; the fault of the configuration is the one to report.
      }
    }
    throw error;
  }
}

export const serveCommand: CommandSpec = {
  description:
    "Runs the daemon until Ctrl-C, SIGTERM or memoryd stop. It needs no options: folders, database and token " +
    "are made at the first start. One line on stdout says when it is ready; logs go to stderr. Only one " +
    "daemon can own a database: a second one ends with code 9 and names the first.",
  settings: settingsOf("daemon"),
  examples: [
    ["memoryd serve", "Serve on 127.0.0.1:7411 and on the unix socket"],
    [
      "memoryd serve --listen 127.0.0.1:0 --json",
      "Take any free port; a program reads which from the one line",
    ],
    ["memoryd serve --data-dir ./try --port-fallback", "A second instance with a folder of its own"],
    ["memoryd serve --no-tcp --idle-exit 600", "The socket alone, until nobody has used it for ten minutes"],
  ],
  run: async (invocation) => {
    const config = configFor(invocation);
    const { serveDaemon } = await import("../app.js");
    await serveDaemon(config, (ready) => announce(ready, config, invocation));
    return undefined;
  },
};
