/**
 * Every promise that memoryd has taken over: each sentence of the four seed documents, the vectors of the
 * memory specification and the rules of the daemon's, with what is proven and what waits for which milestone.
 * `test/requirements.test.ts` compares it with the tests, so that no promise is forgotten on either side.
 */
import { daemonRules } from "./requirements/daemon.js";
import { memoryRequirements } from "./requirements/memory.js";
import { memsyncRequirements } from "./requirements/memsync.js";
import { projectsRequirements } from "./requirements/projects.js";
import { recallRequirements } from "./requirements/recall.js";
import type { Requirement } from "./requirements/types.js";
import { memoryVectors } from "./requirements/vectors.js";

/** The sentences of all seed documents. */
export const requirements: readonly Requirement[] = [
  ...memoryRequirements,
  ...recallRequirements,
  ...memsyncRequirements,
  ...projectsRequirements,
];

export { daemonRules, memoryVectors };
