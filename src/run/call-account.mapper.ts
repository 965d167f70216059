import type { CallAccount, OwnBudget } from '../llm/index.js';
import type { RunContext } from './run-context.js';

/**
 * Where what a model call takes is counted: of a run that another one called, in the budgets of the run at the top.
 * @param own budgets beside those of the server
 */
export function toAccount(
  { runId, sessionId, principal, lineage, isJournaled }: RunContext,
  step: string,
  own: readonly OwnBudget[] = [],
): CallAccount {
  return {
    tenant: principal.tenant,
    runId,
    ...(lineage && { rootRunId: lineage.rootRunId }),
    sessionId: lineage ? lineage.rootSessionId : sessionId,
    step,
    isJournaled,
    ...(own.length > 0 && { own }),
  };
}
