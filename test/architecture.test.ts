/**
 * Holds the design's rule of who may import whom, and the shape of files. The rules are data with the reason
 * beside each (`test/architecture/`); each is shown here to catch what it forbids, to pass what only looks like
 * it, and to hold in the repository.
 */
import { describe, expect, test } from "vitest";
import { homeRules } from "./architecture/homes.js";
import { insideRules } from "./architecture/inside.js";
import { layerRules } from "./architecture/layers.js";
import { openProject, projectFrom } from "./architecture/project.js";
import { shapeRules } from "./architecture/shape.js";

const rules = [...layerRules, ...insideRules, ...homeRules, ...shapeRules];
const project = openProject();

describe("the repository keeps the design's rules", () => {
  test("there is something to look at", () => {
    expect(project.filter(({ path }) => path.startsWith("src/")).length).toBeGreaterThan(10);
    expect(new Set(rules.map(({ name }) => name)).size).toBe(rules.length);
  });

  for (const { name, reason, check } of rules) {
    test(`${name}, because ${reason}`, () => {
      expect(check(project)).toEqual([]);
    });
  }
});

describe("planted violations are caught", () => {
  for (const { name, check, caught } of rules) {
    test.each(Object.entries(caught))(`${name}: %s`, (_title, planted) => {
      const [guilty] = Object.keys(planted);
      expect(check(projectFrom(planted))).toContainEqual(expect.stringContaining(`${guilty}:`));
    });
  }
});

describe("what only looks like a violation is let through", () => {
  for (const { name, check, allowed } of rules) {
    test.each(Object.entries(allowed))(`${name}: %s`, (_title, planted) => {
      expect(check(projectFrom(planted))).toEqual([]);
    });
  }
});
