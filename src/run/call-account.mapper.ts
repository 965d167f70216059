import type { CallAccount, OwnBudget } from '../llm/index.js';
import type { RunContext } from './run-context.js';

/**
 * The account of a model call. Calls of a child run count in the budgets of the root run.
 * @param own budgets in addition to the server's
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
