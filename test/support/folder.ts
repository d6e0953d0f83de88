/** A folder of a test's own, gone when the test is. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A process that a test left to its end may write once more while its folder goes. */
const removal = { recursive: true, force: true, maxRetries: 20, retryDelay: 100 };

/** An empty folder by its real path; call it inside a test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), "memoryd-test-"));
  onTestFinished(() => rmSync(folder, removal));
  return folder;
}
