/**
 * `memoryd doctor` (daemon.md D10): looks at every part, starts no daemon, and says for each fault what to do;
 * with `--fix` it does what can be done without deleting anything of value, and looks again.
 */
import { Option } from "commander";
import { seekDaemon } from "../../client/find.js";
import { readConfig } from "../../config/load.js";
import type { CommandSpec, Invocation } from "../command.js";
import { exitCodes, success } from "../exit-codes.js";
import { settingsOf } from "../options.js";
import type { Output } from "../output.js";
import { isOwned } from "../owner.js";
import { tableText } from "../table.js";
import { visibleLine } from "../visible.js";
import { examineBackups } from "./backups.js";
import { examineDaemon, examineDatabase, examineDiscovery, examineNamedDaemon } from "./daemon.js";
import { examinePort, examineSocket } from "./doors.js";
import { examineFiles, examineFolders, examineToken } from "./files.js";
import { type Examination, type Finding, fault, type Instance } from "./finding.js";
import { examineConfig, examineDisk, examineNode } from "./machine.js";

type State = "ok" | "fault" | "fixed";

/** A finding as it is reported. */
type Check = {
  readonly name: string;
  readonly state: State;
  readonly message: string;
  readonly isRepairable: boolean;
};

/** In this order, since what comes first explains what follows. */
const examinations: Readonly<Record<string, Examination>> = {
  node: examineNode,
  config: examineConfig,
  folders: examineFolders,
  files: examineFiles,
  token: examineToken,
  disk: examineDisk,
  database: examineDatabase,
  backups: examineBackups,
  daemon: examineDaemon,
  discovery: examineDiscovery,
  socket: examineSocket,
  port: examinePort,
  url: examineNamedDaemon,
};

async function examine({ environment, flags }: Invocation): Promise<readonly Finding[]> {
  const { config, faults: configFaults } = readConfig({ flags, environment });
  const local = { ...config, client: { ...config.client, url: undefined } };
  const finding = await seekDaemon(local);
  const { databaseFile } = config.paths;
  const instance: Instance = {
    environment,
    config,
    configFaults,
    daemon: finding.daemon,
    silent: finding.daemon === undefined ? finding.silent : undefined,
    isOwned: databaseFile !== undefined && isOwned(databaseFile),
  };
  try {
    const findings: Finding[] = [];
    for (const [part, look] of Object.entries(examinations))
      findings.push(...(await lookAt(part, look, instance)));
    return findings;
  } finally {
    finding.daemon?.close();
  }
}

/** One part that cannot be looked at is a fault, and no reason to leave the others out. */
async function lookAt(part: string, look: Examination, instance: Instance): Promise<readonly Finding[]> {
  try {
    return await look(instance);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [fault(part, `It cannot be looked at (${why}); see whether its files are yours to read.`)];
  }
}

/** What repairing it came to. */
function repaired({ part, message, repair }: Finding): readonly Check[] {
  if (repair === undefined) return [];
  try {
    return [{ name: part, state: "fixed", message: repair(), isRepairable: false }];
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [{ name: part, state: "fault", message: `${message} (${why})`, isRepairable: false }];
  }
}

const checkFrom = ({ part, isFault, message, repair }: Finding): Check => ({
  name: part,
  state: isFault ? "fault" : "ok",
  message,
  isRepairable: repair !== undefined,
});

function summaryOf(checks: readonly Check[]): string {
  const faults = checks.filter(({ state }) => state === "fault");
  if (faults.length === 0) return "All is well.";
  const repairable = faults.filter(({ isRepairable }) => isRepairable).length;
  const count = faults.length === 1 ? "1 fault remains" : `${faults.length} faults remain`;
  return repairable === 0 ? `${count}.` : `${count}; memoryd doctor --fix repairs ${repairable} of them.`;
}

async function print(checks: readonly Check[], output: Output): Promise<void> {
  const { green, red, yellow, dim } = output.paint;
  const paints = { ok: green, fault: red, fixed: yellow };
  const rows = checks.map(({ name, state, message }) => [
    paints[state](state),
    dim(name),
    visibleLine(message),
  ]);
  await output.write(`${tableText(rows)}\n${summaryOf(checks)}\n`);
}

export const doctorCommand: CommandSpec = {
  description:
    "Looks at every part of this user's memoryd: Node, configuration, folders and modes, token, disk, " +
    "database, daemon, socket and port. For each fault it says what to do. It starts no daemon, and ends with " +
    "code 6 while faults remain.",
  options: [
    new Option(
      "--fix",
      "Repair what can be repaired without deleting anything of value: modes and left-over files",
    ),
  ],
  settings: [
    ...settingsOf("daemon", ["data_dir", "database.url", "listen.address"]),
    ...settingsOf("client", ["client.url", "client.token_file"]),
  ],
  examples: [
    ["memoryd doctor", "What is wrong?"],
    ["memoryd doctor --fix", "Put right what can be"],
    ["memoryd doctor --json | jq '.checks[] | select(.state == \"fault\")'", "The faults for a program"],
  ],
  run: async (invocation) => {
    const { output, isJson, isSet } = invocation;
    let findings = await examine(invocation);
    const repairs = isSet("fix") ? findings.flatMap(repaired) : [];
    if (repairs.length > 0) findings = await examine(invocation);
    const checks = [...repairs.filter(({ state }) => state === "fixed"), ...findings.map(checkFrom)];
    const isWell = checks.every(({ state }) => state !== "fault");
    if (isJson) {
      await output.json({
        ok: isWell,
        checks: checks.map(({ name, state, message }) => ({ name, state, message })),
      });
    } else await print(checks, output);
    return isWell ? success : exitCodes.failed_precondition;
  },
};
