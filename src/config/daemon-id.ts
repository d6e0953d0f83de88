/**
 * Who a daemon is among those that share a database, now or after a copy of it went to another machine: what
 * is said of this machine's folders (memory.md M70) must not be believed by another one.
 */
import { createHash } from "node:crypto";
import type { Environment } from "./env.js";
import type { Paths } from "./paths.js";

const idCharacters = 12;

/** The same at every start of this instance on this machine. */
export const daemonIdFrom = ({ hostName }: Pick<Environment, "hostName">, { stateDir }: Paths): string =>
  createHash("sha256").update(`${hostName}\0${stateDir}`, "utf8").digest("hex").slice(0, idCharacters);
