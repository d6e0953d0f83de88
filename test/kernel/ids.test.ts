/** Chance from its one home. */
import { expect, test } from "vitest";
import { jitter, randomBase64Url, randomHex } from "../../src/kernel/ids.js";

const draws = Array.from({ length: 200 }, (_, index) => index);

test("random hex has two lower-case digits a byte and does not come twice", () => {
  const texts = draws.map(() => randomHex(16));
  expect(new Set(texts).size).toBe(texts.length);
  for (const text of texts) expect(text).toMatch(/^[0-9a-f]{32}$/);
});

test("random base64url fits a URL and a header and does not come twice", () => {
  const texts = draws.map(() => randomBase64Url(32));
  expect(new Set(texts).size).toBe(texts.length);
  for (const text of texts) expect(text).toMatch(/^[A-Za-z0-9_-]{43}$/);
});

test("jitter is from 0 to below 1 and spreads", () => {
  const numbers = draws.map(() => jitter());
  for (const number of numbers) {
    expect(number).toBeGreaterThanOrEqual(0);
    expect(number).toBeLessThan(1);
  }
  expect(Math.max(...numbers) - Math.min(...numbers)).toBeGreaterThan(0.5);
});
