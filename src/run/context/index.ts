/** The context of an execution: its steps, which execute once and are replayed from the journal, and its end. */
export { RunContext } from './run-context.js';
export type { StepName } from './run-context.js';
export { isRelinquished, journalUnavailable, queuedState } from './execution-end.js';
export { unreachable } from './recorded-step.policy.js';
export { MemoryRunContext } from './memory-run-context.js';
export type { StepCompanion, StepOptions, StepRequest } from './step-companion.types.js';
