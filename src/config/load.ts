/**
 * The configuration, read once into a frozen and closed value: flag > variable > file > default, every
 * unknown name and illegal value a fault that says where it was written and what is legal. Values are never
 * quoted, since any of them may be a secret; all faults are told at once.
 */
import { type FieldViolation, invalidArgument } from "../kernel/errors.js";
import { type Environment, readEnvironment } from "./env.js";
import { inMemoryDatabaseUrl, sqliteScheme } from "./formats.js";
import { hostAndPortFrom, isLoopbackHost } from "./hosts.js";
import type { Option } from "./option.js";
import { type OptionKey, type OptionValues, options } from "./options.js";
import { type Paths, pathsFrom } from "./paths.js";
import { readConfigFile, readFlags, readVariables, type WrittenValues } from "./sources.js";
import { valueFrom } from "./values.js";

export type Config = {
  readonly paths: Paths;
  readonly database: {
    /** `sqlite:` and an absolute path, or `sqlite::memory:`. A secret: print it as ***. */
    readonly url: string;
  };
  readonly listen: {
    readonly tcp: boolean;
    readonly host: string;
    readonly port: number;
    /** Nobody chose the address, so a taken port may be somebody else's memoryd. */
    readonly isDefault: boolean;
    readonly portFallback: boolean;
    readonly socket: boolean;
  };
  readonly access: {
    readonly allowHost: readonly string[];
    readonly allowOrigin: readonly string[];
    readonly insecureNoAuth: boolean;
    readonly behindProxy: boolean;
  };
  readonly tls: { readonly cert: string | undefined; readonly key: string | undefined };
  readonly memory: {
    readonly defaultWorkspace: string;
    readonly maxRecords: number;
    readonly maxWorkspaces: number;
    readonly revisionsPerRecord: number;
    /** 0 keeps them for ever. */
    readonly deletedKeepDays: number;
    /** Whether clients keep a derived workspace's name with the repository. */
    readonly pinWorkspace: boolean;
  };
  readonly backup: {
    readonly daily: boolean;
    /** Daily copies that stay; 1 at least. */
    readonly keep: number;
  };
  readonly log: {
    readonly level: OptionValues["log.level"];
    readonly format: OptionValues["log.format"];
    readonly file: string | undefined;
  };
  readonly daemon: {
    /** 0 never ends an idle daemon. */
    readonly idleExitSeconds: number;
    readonly exitWithParent: boolean;
    readonly stopGraceMs: number;
  };
  readonly client: {
    readonly url: string | undefined;
    /** A secret: print it as ***. */
    readonly token: string | undefined;
    readonly tokenFile: string | undefined;
    readonly workspace: string | undefined;
    readonly startTimeoutMs: number;
  };
};

export type ConfigInput = {
  /** By option key; texts as typed, or values of the option's own type. `undefined` counts as not given. */
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly environment?: Environment;
};

const [dataDirOption] = options;

/** What one option alone cannot tell (daemon.md D3, D21, D22). */
function combinationFaults(config: Config): FieldViolation[] {
  const { listen, access, tls } = config;
  const faults: FieldViolation[] = [];
  const fault = (field: OptionKey, description: string): void => void faults.push({ field, description });
  const isLocal = isLoopbackHost(listen.host);
  if (!listen.tcp && !listen.socket)
    fault("listen.tcp", "and listen.socket cannot both be off; leave one on");
  if ((tls.cert === undefined) !== (tls.key === undefined)) {
    fault(tls.cert === undefined ? "tls.cert" : "tls.key", "is missing; give both --tls-cert and --tls-key");
  }
  if (!listen.tcp) return faults;
  if (access.insecureNoAuth && (!isLocal || access.behindProxy)) {
    fault(
      "access.insecure_no_auth",
      "is only possible on a loopback address without a proxy; leave it out, and clients send the token",
    );
  }
  if (!isLocal && tls.cert === undefined && !access.behindProxy) {
    fault(
      "listen.address",
      "is reachable from other machines; add --tls-cert and --tls-key, or --behind-proxy when a proxy does TLS",
    );
  }
  return faults;
}

function configFrom(values: OptionValues, paths: Paths, isDefaultAddress: boolean): Config {
  const url = values["database.url"] ?? `${sqliteScheme}${paths.databaseFile}`;
  const address = hostAndPortFrom(values["listen.address"]);
  return {
    paths: {
      ...paths,
      databaseFile: url === inMemoryDatabaseUrl ? undefined : url.slice(sqliteScheme.length),
    },
    database: { url },
    listen: {
      tcp: values["listen.tcp"],
      host: address?.host ?? "",
      port: address?.port ?? 0,
      isDefault: isDefaultAddress,
      portFallback: values["listen.port_fallback"],
      socket: values["listen.socket"],
    },
    access: {
      allowHost: values["access.allow_host"],
      allowOrigin: values["access.allow_origin"],
      insecureNoAuth: values["access.insecure_no_auth"],
      behindProxy: values["access.behind_proxy"],
    },
    tls: { cert: values["tls.cert"], key: values["tls.key"] },
    memory: {
      defaultWorkspace: values["memory.default_workspace"],
      maxRecords: values["memory.max_records"],
      maxWorkspaces: values["memory.max_workspaces"],
      revisionsPerRecord: values["memory.revisions_per_record"],
      deletedKeepDays: values["memory.deleted_keep_days"],
      pinWorkspace: values["memory.pin_workspace"],
    },
    backup: { daily: values["backup.daily"], keep: values["backup.keep"] },
    log: { level: values["log.level"], format: values["log.format"], file: values["log.file"] },
    daemon: {
      idleExitSeconds: values["daemon.idle_exit_seconds"],
      exitWithParent: values["daemon.exit_with_parent"],
      stopGraceMs: values["daemon.stop_grace_ms"],
    },
    client: {
      url: values["client.url"],
      token: values["client.token"],
      tokenFile: values["client.token_file"],
      workspace: values["client.workspace"],
      startTimeoutMs: values["client.start_timeout_ms"],
    },
  };
}

function deepFreeze<Value extends object>(value: Value): Value {
  for (const member of Object.values(value)) {
    if (typeof member === "object" && member !== null) deepFreeze(member);
  }
  return Object.freeze(value);
}

export type ReadConfig = {
  /** With the default of every option that has a fault. */
  readonly config: Config;
  readonly faults: readonly FieldViolation[];
};

/** The configuration as far as it is legal, and what is wrong with the rest of it. */
export function readConfig({ flags = {}, environment = readEnvironment() }: ConfigInput = {}): ReadConfig {
  const faults: FieldViolation[] = [];
  const sources: WrittenValues[] = [readFlags(flags, faults), readVariables(environment, faults)];
  const read = (option: Option): unknown => {
    const written = sources.find((source) => source.has(option.key))?.get(option.key);
    if (written === undefined) return option.default;
    const result = valueFrom(option, written.value, written.source, environment);
    if (!("fault" in result)) return result.value;
    faults.push({ field: option.key, description: `(${written.from}) must be ${result.fault}` });
    return option.default;
  };
  // The folder comes first, because the file with the other options lies in it.
  const instanceDir = read(dataDirOption) as string | undefined;
  const paths = pathsFrom(environment, instanceDir);
  sources.push(readConfigFile(paths.configFile, faults));
  const values = Object.fromEntries(
    options.map((option) => [option.key, option === dataDirOption ? instanceDir : read(option)]),
  ) as unknown as OptionValues;
  const isDefaultAddress = !sources.some((source) => source.has("listen.address"));
  const config = configFrom(values, paths, isDefaultAddress);
  if (faults.length === 0) faults.push(...combinationFaults(config));
  return { config: deepFreeze(config), faults };
}

/** What finds a daemon that runs, and what waits for its end. */
const findingKeys: ReadonlySet<string> = new Set<OptionKey>([
  "data_dir",
  "database.url",
  "client.url",
  "client.token",
  "client.token_file",
]);

/**
 * The configuration for who has no use for most of it: a daemon must be found and stopped also when its next
 * start would be refused. Throws for faults of what was typed now or finds a daemon, and answers the others.
 */
export function loadConfigToFind(input: ConfigInput = {}): ReadConfig {
  const { config, faults } = readConfig(input);
  const given = input.flags ?? {};
  const isNeeded = ({ field }: FieldViolation): boolean =>
    findingKeys.has(field) || given[field] !== undefined;
  if (faults.some(isNeeded)) throw invalidArgument(faults.filter(isNeeded), "INVALID_CONFIGURATION");
  return { config, faults };
}

/** The configuration, or `invalid_argument` (INVALID_CONFIGURATION) with every fault and its place. */
export function loadConfig(input: ConfigInput = {}): Config {
  const { config, faults } = readConfig(input);
  if (faults.length > 0) throw invalidArgument(faults, "INVALID_CONFIGURATION");
  return config;
}
