/**
 * The forms that a text option may have: what is legal, said so that it completes "must be …", and the one
 * spelling that the rest of memoryd sees. Pure; whether a file is there is asked by who opens it.
 */
import { isIP } from "node:net";
import type { Environment } from "./env.js";
import { bareHost, hostAndPortFrom } from "./hosts.js";
import { pathStyle } from "./paths.js";

/** Where a value was written. Only a flag may be relative to the working directory. */
export type Source = "flag" | "variable" | "file";

export type Format = {
  readonly legal: string;
  /** The canonical text, or `undefined` when `text` is not legal. */
  readonly read: (text: string, source: Source, environment: Environment) => string | undefined;
};

export const inMemoryDatabaseUrl = "sqlite::memory:";
export const sqliteScheme = "sqlite:";

const when = (isLegal: boolean, value: string): string | undefined => (isLegal ? value : undefined);

const urlFrom = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined);

const isWebUrl = (url: URL): boolean => url.protocol === "http:" || url.protocol === "https:";

/** A file or folder of this machine. */
const path: Format = {
  legal: "a path (absolute, unless it is given as a flag)",
  read(text, source, { platform, workingDir }) {
    const { isAbsolute, normalize, resolve } = pathStyle(platform);
    if (text === "" || text.includes("\0")) return undefined;
    if (isAbsolute(text)) return normalize(text);
    return when(source === "flag", resolve(workingDir, text));
  },
};

const databaseUrl: Format = {
  legal: `${sqliteScheme} and an absolute path, or ${inMemoryDatabaseUrl} (this build speaks SQLite only)`,
  read(text, _source, { platform }) {
    if (text === inMemoryDatabaseUrl || !text.startsWith(sqliteScheme))
      return when(text === inMemoryDatabaseUrl, text);
    const { isAbsolute, normalize, sep } = pathStyle(platform);
    const file = text.slice(sqliteScheme.length);
    const isFile = isAbsolute(file) && !file.endsWith(sep) && !file.endsWith("/") && !/[\0?#]/.test(file);
    return when(isFile, `${sqliteScheme}${normalize(file)}`);
  },
};

const address: Format = {
  legal: "host:port, such as 127.0.0.1:7411 or [::1]:0 (0 takes any free port)",
  read: (text) => when(hostAndPortFrom(text) !== undefined, text),
};

const host: Format = {
  legal: "a host name or an address, without scheme, port or path",
  read(text) {
    const bare = bareHost(text.toLowerCase());
    if (isIP(bare) === 6) return bareHost(new URL(`http://[${bare}]`).hostname);
    const isName = /^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$/.test(bare) && bare === text.toLowerCase();
    return when(isName && urlFrom(`http://${bare}`)?.hostname === bare, bare);
  },
};

const origin: Format = {
  legal: "an origin such as https://tools.example.org, without a path and never *",
  read(text) {
    const url = urlFrom(text);
    const isOrigin = url !== undefined && isWebUrl(url) && url.href === `${url.origin}/`;
    return isOrigin
      ? when(url.origin === text.toLowerCase() || url.href === text.toLowerCase(), url.origin)
      : undefined;
  },
};

const daemonUrl: Format = {
  legal: "http:// or https:// and a host, without user, query or fragment",
  read(text) {
    const url = urlFrom(text);
    if (url === undefined || !isWebUrl(url)) return undefined;
    const isPlain = url.username === "" && url.password === "" && url.search === "" && url.hash === "";
    return when(isPlain, url.href.replace(/\/+$/, ""));
  },
};

/** The rule of a record's name (memory.md M11), which workspaces share. */
export const isWorkspace = (text: string): boolean =>
  /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(text) && text.length <= 128;

const workspace: Format = {
  legal: "1 to 128 of a-z and 0-9 in words joined by single hyphens",
  read: (text) => when(isWorkspace(text), text),
};

const token: Format = {
  legal: "one line of 16 to 512 visible characters",
  read: (text) => when(/^[\x21-\x7e]{16,512}$/.test(text), text),
};

export const formats = { path, databaseUrl, address, host, origin, daemonUrl, workspace, token } as const;
