/**
 * `verifies` is a test that proves a sentence of `test/requirements.ts`: it carries that sentence's id, and
 * `test/requirements.test.ts` finds it by that id in the sources. Write it with a literal id.
 */
import { test } from "vitest";

/** A vitest test named after a requirement's id and a sentence that a user would understand. */
export function verifies(id: string, sentence: string, body: () => void | Promise<void>): void {
  test(`[${id}] ${sentence}`, body);
}
