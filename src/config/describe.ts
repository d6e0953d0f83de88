/**
 * The configuration by option again: as people read it (the daemon's first log line, `doctor`, the README),
 * without secrets, and as variables for a daemon that is started with it.
 */
import type { Config } from "./load.js";
import { defaultTextOf, flagUsageOf, type Option } from "./option.js";
import { defaultListenAddress, type OptionKey, options } from "./options.js";

export const hiddenSecret = "***";

export type DescribedOption = { readonly key: OptionKey; readonly value: unknown; readonly help: string };

function valuesOf(config: Config): Readonly<Record<OptionKey, unknown>> {
  const { paths, database, listen, access, tls, memory, backup, log, daemon, client } = config;
  const host = listen.host.includes(":") ? `[${listen.host}]` : listen.host;
  return {
    data_dir: paths.instanceDir ?? paths.dataDir,
    "database.url": database.url,
    "listen.address": listen.isDefault ? defaultListenAddress : `${host}:${listen.port}`,
    "listen.tcp": listen.tcp,
    "listen.socket": listen.socket,
    "listen.port_fallback": listen.portFallback,
    "access.allow_host": access.allowHost,
    "access.allow_origin": access.allowOrigin,
    "access.insecure_no_auth": access.insecureNoAuth,
    "access.behind_proxy": access.behindProxy,
    "tls.cert": tls.cert,
    "tls.key": tls.key,
    "memory.default_workspace": memory.defaultWorkspace,
    "memory.max_records": memory.maxRecords,
    "memory.max_workspaces": memory.maxWorkspaces,
    "memory.revisions_per_record": memory.revisionsPerRecord,
    "memory.deleted_keep_days": memory.deletedKeepDays,
    "memory.pin_workspace": memory.pinWorkspace,
    "backup.daily": backup.daily,
    "backup.keep": backup.keep,
    "log.level": log.level,
    "log.format": log.format,
    "log.file": log.file,
    "daemon.idle_exit_seconds": daemon.idleExitSeconds,
    "daemon.exit_with_parent": daemon.exitWithParent,
    "daemon.stop_grace_ms": daemon.stopGraceMs,
    "client.url": client.url,
    "client.token": client.token,
    "client.token_file": client.tokenFile,
    "client.workspace": client.workspace,
    "client.start_timeout_ms": client.startTimeoutMs,
  };
}

/** Every option with its value in force, in the table's order; a secret that is set reads `***`. */
export function describeConfig(config: Config): readonly DescribedOption[] {
  const values = valuesOf(config);
  return options.map((option: Option & { readonly key: OptionKey }) => {
    const value = values[option.key];
    const isHidden = option.secret === true && value !== undefined;
    return { key: option.key, value: isHidden ? hiddenSecret : value, help: option.help };
  });
}

/**
 * The daemon's options as variables, so that a process which inherits them and the data folder loads the
 * same values, wherever they came from. Holds secrets: only for the environment of our own processes.
 */
export function daemonVariablesFrom(config: Config): Readonly<Record<string, string>> {
  const values = valuesOf(config);
  const variables: Record<string, string> = {};
  for (const { key, env, scope } of options) {
    const isAutomatic = key === "listen.address" && config.listen.isDefault;
    const value = values[key];
    const text = Array.isArray(value) ? value.join(",") : String(value ?? "");
    if (scope === "daemon" && text !== "" && !isAutomatic) variables[env] = text;
  }
  return variables;
}

/** The rows of the README's table, in Markdown. */
export function readmeOptionsTable(): string {
  const cell = (text: string): string => text.replaceAll("|", "\\|");
  const code = (text: string | undefined): string => (text === undefined ? "" : `\`${text}\``);
  const rows = options.map((option: Option) => {
    const key = option.notInFile ? "" : code(option.key);
    const cells = [code(flagUsageOf(option)), code(option.env), key, defaultTextOf(option), option.help];
    return `| ${cells.map(cell).join(" | ")} |`;
  });
  return [
    "| flag | variable | in config.json | default | what it does |",
    "| --- | --- | --- | --- | --- |",
    ...rows,
  ].join("\n");
}
