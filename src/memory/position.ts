/**
 * A place in the change stream of a workspace as one text (memory.md M57, M58): the epoch, which tells a
 * database from a restored copy of itself, and how many writes there had been.
 */

export type Position = {
  /** Empty for a workspace that does not exist. */
  readonly epoch: string;
  readonly position: number;
};

export const textFromPosition = ({ epoch, position }: Position): string => `${epoch}.${position}`;
