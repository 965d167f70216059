/** Forks: a new run from a step of another, with edits. */
export type { ForkEdits, ForkPlan, GivenStep, RunMarks } from './run-fork.types.js';
export { RunForkService } from './run-fork.service.js';
export { FIRST_STEP } from './run-prefix.policy.js';
