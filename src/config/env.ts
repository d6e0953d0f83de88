/**
 * The only reader of `process.env`, and of what else the operating system says about us: platform, home,
 * user. Everything that depends on them takes an {@link Environment}, so that it is pure and can be tested
 * for a platform that we do not run on. What the variables mean is in `options.ts` and `paths.ts`.
 */
import { homedir, hostname, tmpdir, userInfo } from "node:os";

export type Environment = {
  /** `MEMORYD_*`, `XDG_*` and the folders of Windows; nothing else is kept. Empty ones count as not set. */
  readonly variables: Readonly<Record<string, string>>;
  readonly platform: NodeJS.Platform;
  /** Absolute; empty when the system knows none. */
  readonly homeDir: string;
  readonly tempDir: string;
  readonly workingDir: string;
  /** What the machine calls itself; empty when it does not say. */
  readonly hostName: string;
  /** Login name of the user, as the system writes it; empty when it has none. */
  readonly userName: string;
  /** Effective user id; `undefined` where the platform has none. */
  readonly userId: number | undefined;
  readonly processId: number;
  readonly parentProcessId: number;
  /** Whether the standard `OTEL_*` variables ask for traces (daemon.md D15). */
  readonly wantsTraces: boolean;
};

/** Whether files have modes and owners here, and unix sockets live in the file system (daemon.md D11). */
export const hasFileModes: boolean = process.platform !== "win32";

/** The effective user, whose files are ours; `undefined` where the platform has no user ids. */
export const currentUserId = (): number | undefined => process.geteuid?.();

/** Taken as early as can be, because a parent that ends while we start is gone all the same (daemon.md D8). */
const parentProcessId = process.ppid;

const isKept = (name: string): boolean => /^(?:MEMORYD_|XDG_|(?:LOCAL)?APPDATA$)/.test(name);

/** Names are upper-cased on Windows, where they have no case. */
const nameOn = (platform: NodeJS.Platform, name: string): string =>
  platform === "win32" ? name.toUpperCase() : name;

/** What `read` answers, or empty where the system has no entry for this user (a container's bare uid). */
function orEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}

function wantsTraces(): boolean {
  const { env } = process;
  if (env.OTEL_SDK_DISABLED === "true" || env.OTEL_TRACES_EXPORTER === "none") return false;
  return Boolean(
    env.OTEL_TRACES_EXPORTER || env.OTEL_EXPORTER_OTLP_ENDPOINT || env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT,
  );
}

export function readEnvironment(): Environment {
  const { env, platform } = process;
  const variables: Record<string, string> = {};
  for (const [written, value] of Object.entries(env)) {
    const name = nameOn(platform, written);
    if (isKept(name) && value !== undefined && value !== "") variables[name] = value;
  }
  const userName = orEmpty(() => userInfo().username);
  return {
    variables,
    platform,
    homeDir: orEmpty(homedir),
    tempDir: tmpdir(),
    workingDir: process.cwd(),
    hostName: orEmpty(hostname),
    userName: userName || env.USER || env.LOGNAME || env.USERNAME || "",
    userId: currentUserId(),
    processId: process.pid,
    parentProcessId,
    wantsTraces: wantsTraces(),
  };
}

/**
 * The variables for a process that we start and leave running: ours with `changed` on top (`undefined`
 * removes one), without `NODE_OPTIONS`, which belongs to the program that happens to start the daemon: a
 * debugger's port, a loader.
 */
export function childVariables(
  changed: Readonly<Record<string, string | undefined>> = {},
): Readonly<Record<string, string | undefined>> {
  return { ...process.env, NODE_OPTIONS: undefined, ...changed };
}
