/** Who a daemon is among those that share data (memory.md M70): the same at every start, another elsewhere. */
import { expect, test } from "vitest";
import { daemonIdFrom } from "../../src/config/daemon-id.js";
import { pathsFrom } from "../../src/config/paths.js";
import { linux } from "./environment.js";

const idOf = (hostName: string, dataDir?: string): string => {
  const environment = linux({}, { hostName });
  return daemonIdFrom(environment, pathsFrom(environment, dataDir));
};

test("a daemon is known by its machine and its folders", () => {
  const id = idOf("engine");
  expect(id).toMatch(/^[0-9a-f]{12}$/);
  expect(idOf("engine")).toBe(id);
  expect(
    new Set([id, idOf("another"), idOf("engine", "/elsewhere"), idOf("another", "/elsewhere")]).size,
  ).toBe(4);
});
