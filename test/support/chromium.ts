/**
 * A Chromium that somebody installed: where CHROMIUM_PATH says, or where systems put it. Tests that need one
 * are skipped by name where there is none, which `scripts/test.mjs` counts as a failure under CI.
 */
import { existsSync } from "node:fs";

const usualPlaces = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

export const withoutChromium = "no Chromium was found: install one, or name it with CHROMIUM_PATH";

/** The path of its program; `undefined` where there is none. */
export function findChromium(): string | undefined {
  const named = process.env.CHROMIUM_PATH;
  return named !== undefined && named !== "" ? named : usualPlaces.find((path) => existsSync(path));
}
