/** How a command ends: one table of exit codes (design section 3), and the words that the help has for them. */
import type { ErrorCode } from "../kernel/errors.js";

export const success = 0;

export const exitCodes: Readonly<Record<ErrorCode, number>> = {
  invalid_argument: 2,
  not_found: 4,
  already_exists: 5,
  version_conflict: 6,
  failed_precondition: 6,
  resource_exhausted: 7,
  unauthenticated: 8,
  permission_denied: 8,
  unavailable: 9,
  internal: 1,
};

/** What a code means to who runs a command, by code. Code 3 is not ours to give: directory sync has it. */
export const exitMeanings: Readonly<Record<number, string>> = {
  [success]: "done",
  [exitCodes.internal]: "a fault of memoryd itself",
  [exitCodes.invalid_argument]: "the command, an option or what it was given is wrong",
  [exitCodes.not_found]: "there is no such thing",
  [exitCodes.already_exists]: "there is such a thing already",
  [exitCodes.version_conflict]:
    "somebody else wrote in between, or the state of things stands against it (doctor: faults remain)",
  [exitCodes.resource_exhausted]: "a limit is reached",
  [exitCodes.unauthenticated]: "the token is missing, wrong or has too small a right",
  [exitCodes.unavailable]: "no daemon answers, or it cannot start",
};
