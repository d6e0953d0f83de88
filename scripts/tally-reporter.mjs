/**
 * A vitest reporter that writes what scripts/test.mjs reports at the end: how many tests passed, which were
 * skipped and why, and what failed outside of any test. vitest's own JSON report lacks the last two.
 */
import { writeFileSync } from "node:fs";

/** Names the file to write. Not MEMORYD_…, which is for options: memoryd refuses those that it does not know. */
export const tallyFileVariable = "TEST_TALLY_FILE";

const nameOf = (test) => `${test.module.relativeModuleId} > ${test.fullName}`;

export default class TallyReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const tally = { passed: 0, failed: 0, skipped: [], errors: unhandledErrors.length };
    for (const module of modules) {
      tally.errors += module.errors().length;
      for (const suite of module.children.allSuites()) tally.errors += suite.errors().length;
      for (const test of module.children.allTests()) {
        const result = test.result();
        if (result.state === "passed") tally.passed += 1;
        else if (result.state === "skipped") tally.skipped.push({ name: nameOf(test), reason: result.note });
        else tally.failed += 1;
      }
    }
    writeFileSync(process.env[tallyFileVariable], JSON.stringify(tally));
  }
}
