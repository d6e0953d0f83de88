/** What an examination of `doctor` works on, and what it finds: one sentence for each thing it looked at. */

import type { Daemon } from "../../client/find.js";
import type { Discovery } from "../../config/discovery.js";
import type { Environment } from "../../config/env.js";
import type { Config } from "../../config/load.js";
import type { FieldViolation } from "../../kernel/errors.js";

export type Finding = {
  /** The part that was looked at, one word. */
  readonly part: string;
  readonly isFault: boolean;
  /** What is, or what is wrong and what to do about it. */
  readonly message: string;
  /** Puts it right without taking anything of value, and says what it did. Only for a fault. */
  readonly repair?: () => string;
};

/** The instance that is examined. */
export type Instance = {
  readonly environment: Environment;
  /** With the default of every option that has a fault. */
  readonly config: Config;
  readonly configFaults: readonly FieldViolation[];
  /** The local daemon when it runs and answers. */
  readonly daemon: Daemon | undefined;
  /** The local daemon when it is there and does not answer. */
  readonly silent: Discovery | undefined;
  /** Whether some process owns the database file. */
  readonly isOwned: boolean;
};

export type Examination = (instance: Instance) => Promise<readonly Finding[]> | readonly Finding[];

export const well = (part: string, message: string): Finding => ({ part, isFault: false, message });

export const fault = (part: string, message: string, repair?: () => string): Finding => ({
  part,
  isFault: true,
  message,
  ...(repair === undefined ? {} : { repair }),
});

/** Whether nobody can be using the files of the instance, so that what lies around is left over. */
export const isAtRest = ({ daemon, silent, isOwned }: Instance): boolean =>
  daemon === undefined && silent === undefined && !isOwned;
