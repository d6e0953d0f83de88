/**
 * What the parts of memoryd may log, without naming the library that writes it. Fields are codes, names,
 * sizes and times: never stored content, tokens or keys (daemon.md D16).
 */

export type LogFields = Readonly<Record<string, unknown>>;

export type Log = {
  readonly debug: (fields: LogFields, message: string) => void;
  readonly info: (fields: LogFields, message: string) => void;
  readonly warn: (fields: LogFields, message: string) => void;
  readonly error: (fields: LogFields, message: string) => void;
};

/** Says nothing. */
export const silentLog: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
