/** Sizes and durations as people read them. */
import { expect, test } from "vitest";
import { durationText, sizeText } from "../../src/cli/quantities.js";

test.each([
  [0, "0 bytes"],
  [1, "1 byte"],
  [1_023, "1023 bytes"],
  [1_024, "1.0 KiB"],
  [1_536, "1.5 KiB"],
  [242_688, "237 KiB"],
  [5 * 1_024 ** 3, "5.0 GiB"],
])("%d bytes read %s", (bytes, text) => {
  expect(sizeText(bytes)).toBe(text);
});

test.each([
  [0.4, "0 s"],
  [59, "59 s"],
  [61, "1 min 1 s"],
  [3_600, "1 h"],
  [3_605, "1 h"],
  [90_000, "1 d 1 h"],
])("%d seconds read %s", (seconds, text) => {
  expect(durationText(seconds)).toBe(text);
});
