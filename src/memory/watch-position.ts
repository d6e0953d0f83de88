/**
 * Whether a watch can go on from a position (memory.md M57): pure, decided anew before each page of changes.
 *
 * | the position                                            | then                                    |
 * | --- | --- |
 * | is of another epoch: another database, or a restored one | reset                                   |
 * | is above the workspace's own                             | reset                                   |
 * | is before a deletion whose revisions were trimmed        | reset: what was deleted cannot be told  |
 * | is of a workspace that did not exist                     | as position 0 of whatever exists now    |
 * | is any other                                             | the changes after it are all still kept |
 */
import { invalidArgument } from "../kernel/errors.js";
import type { Position } from "./position.js";

/** Where a workspace stands. */
export type Standing = Position & {
  /** The highest deletion that was trimmed; 0 for none. */
  readonly trimmedPosition: number;
};

const unborn: Position = { epoch: "", position: 0 };

const form = /^([0-9a-f]{0,64})\.(0|[1-9][0-9]{0,15})$/;

/** The position that a request names; `undefined` for none. Throws `invalid_argument` for any other text. */
export function positionFromText(text: string): Position | undefined {
  if (text === "") return undefined;
  const [, epoch = "", digits = ""] = form.exec(text) ?? [];
  const position = Number(digits);
  const isOurs = digits !== "" && Number.isSafeInteger(position) && (epoch !== "" || position === 0);
  if (isOurs) return { epoch, position };
  const description = "is not a position of this daemon; leave it empty to begin with the next change";
  throw invalidArgument([{ field: "position", description }]);
}

/** Where a watch begins that missed nothing; `undefined` stands for a workspace that does not exist. */
export const currentPosition = (standing: Standing | undefined): Position =>
  standing === undefined ? unborn : { epoch: standing.epoch, position: standing.position };

/** Where reading goes on after `from`; `undefined` when what came after it cannot all be told. */
export function resumedPosition(from: Position, standing: Standing | undefined): Position | undefined {
  if (standing === undefined) return from.epoch === unborn.epoch ? unborn : undefined;
  const isSame = from.epoch === standing.epoch || from.epoch === unborn.epoch;
  if (!isSame || from.position > standing.position || from.position < standing.trimmedPosition) {
    return undefined;
  }
  return { epoch: standing.epoch, position: from.position };
}
