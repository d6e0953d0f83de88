/**
 * `@connectrpc/connect-web` in a headless Chromium against a real daemon: a page of an allowed origin does
 * everything, a page of any other nothing (daemon.md D19).
 */
import { rmSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findChromium, withoutChromium } from "../support/chromium.js";
import { type Daemon, launchDaemon, newFolder } from "../support/daemon.js";
import type { PageCall } from "./browser/page.js";
import { bundlePage, openSite, type Site } from "./browser/site.js";
import { type Outcome, rawDetails } from "./connect-door.js";
import { conversation } from "./conversation.js";
import { type Door, Refusal, service } from "./door.js";

const executablePath = findChromium();
const skipped = executablePath === undefined ? withoutChromium : undefined;

let daemon: Daemon;
let browser: Browser;
let allowed: Page;
let foreign: Page;
const sites: Site[] = [];
const folder = newFolder();

async function openPage(site: Site): Promise<Page> {
  const page = await browser.newPage();
  await page.goto(site.origin);
  await page.waitForFunction(() => "callMemoryd" in window);
  return page;
}

beforeAll(async () => {
  if (executablePath === undefined) return;
  const script = await bundlePage();
  sites.push(await openSite(script), await openSite(script));
  const [ours, theirs] = sites as [Site, Site];
  daemon = await launchDaemon({ folder, flags: ["--allow-origin", ours.origin] });
  // Chromium refuses to run as root in its sandbox, and the page is ours.
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  [allowed, foreign] = await Promise.all([openPage(ours), openPage(theirs)]);
});

afterAll(async () => {
  await browser?.close();
  await daemon?.kill();
  for (const site of sites) site.close();
  rmSync(folder, { recursive: true, force: true });
});

const callFrom = (page: Page, call: Omit<PageCall, "url" | "token">): Promise<Outcome> => {
  const whole: PageCall = { ...call, url: daemon.url, token: daemon.token };
  return page.evaluate((text: string) => window.callMemoryd(JSON.parse(text)), JSON.stringify(whole));
};

const doorOf = (way: PageCall["way"]): Door => ({
  async call(method, message, metadata = {}) {
    const outcome = await callFrom(allowed, { way, method, message, metadata });
    if ("code" in outcome) throw new Refusal(outcome.code, outcome.text, rawDetails(outcome.details));
    return { message: outcome.message, metadata: (name) => outcome.headers[name] };
  },
});

const ways = ["Connect in JSON", "Connect in binary", "gRPC-Web"] as const;

describe.each(ways)("connect-web in Chromium, a page of an allowed origin: %s", (way) => {
  conversation(() => doorOf(way), { skipped });
});

describe("a page of a foreign origin", () => {
  const tries = (sentence: string, body: () => Promise<void>): void => {
    test(sentence, async (context) => {
      if (skipped !== undefined) context.skip(skipped);
      await body();
    });
  };
  const metadata = { "memoryd-workspace": "foreign" };
  const cursor = async (): Promise<unknown> =>
    await callFrom(allowed, { way: "Connect in JSON", method: "GetCursor", message: {}, metadata });

  for (const way of ways) {
    tries(`cannot call with a token that it has somehow got, by ${way}`, async () => {
      const message = { content: "written by a stranger" };
      const outcome = await callFrom(foreign, { way, method: "UpdateCursor", message, metadata });
      expect(outcome).toMatchObject({ code: "unknown", text: "Failed to fetch", details: [] });
      expect(await cursor()).toMatchObject({ message: {} });
    });
  }

  tries("cannot write blindly either, by a request that needs no preflight", async () => {
    const url = `${daemon.url}/${service}/UpdateCursor`;
    const body = JSON.stringify({ content: "written by a stranger" });
    const type = await foreign.evaluate(
      async ([to, text]) =>
        (await fetch(to as string, { method: "POST", mode: "no-cors", body: text as string })).type,
      [url, body],
    );
    expect(type).toBe("opaque");
    expect(await cursor()).toMatchObject({ message: {} });
  });

  tries("cannot even read whether the daemon lives", async () => {
    const read = foreign.evaluate(async (url) => (await fetch(url)).status, `${daemon.url}/livez`);
    await expect(read).rejects.toThrow("Failed to fetch");
    expect(await allowed.evaluate(async (url) => (await fetch(url)).status, `${daemon.url}/livez`)).toBe(200);
  });

  tries("without an origin at all, as in a sandboxed frame, it is not let in", async () => {
    const page = await browser.newPage();
    await page.goto("data:text/html,<title>no origin</title>");
    const read = page.evaluate(async (url) => (await fetch(url)).status, `${daemon.url}/livez`);
    await expect(read).rejects.toThrow("Failed to fetch");
  });
});
