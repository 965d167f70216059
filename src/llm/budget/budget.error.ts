import { AppError } from '../../errors/index.js';
import { excess } from './model-budget.js';
import type { Amount, BudgetScope } from './budget.types.js';

const WHAT: Readonly<Record<BudgetScope['name'], readonly [what: string, variable: string, field: string]>> = {
  run: ['run', 'BUDGET_RUN', 'run'],
  session: ['session', 'BUDGET_SESSION', 'session'],
  tenant_day: ['tenant and day', 'BUDGET_TENANT_DAY', 'tenantDay'],
  day: ['day', 'BUDGET_DAY', 'day'],
};

/** Error of a rejected call: the exceeded budget and its reset time. */
export function budgetExceeded({ name, agent, limit, resetsAt }: BudgetScope, sum: Amount, more: Amount): AppError {
  const { unit, ...counts } = excess(sum, more, limit);
  const [what, variable, field] = WHAT[name];
  const whose = agent === undefined ? variable : `budgets.${field} of the agent "${agent}"`;
  const until = resetsAt === null ? null : new Date(resetsAt).toISOString();
  const message =
    `The budget of this ${what} (${whose}) does not allow another model call: ${counts.spent} of ${counts.limit} ` +
    `(${unit}) are spent or reserved, and the call may take ${counts.wanted}; ` +
    (until === null ? `raise it, or start another ${what}.` : `it resets at ${until}.`);
  return new AppError('BUDGET_EXCEEDED', message, {
    details: { budget: name, ...(agent !== undefined && { agent }), unit, ...counts, resets_at: until },
  });
}

/**
 * Error of a reply that was stopped while it streamed.
 * @param tokens length of the reply at which the budget was used up
 */
export function replyUsedUp({ name, agent, limit, resetsAt }: BudgetScope, tokens: number): AppError {
  const [what, variable, field] = WHAT[name];
  const whose = agent === undefined ? variable : `budgets.${field} of the agent "${agent}"`;
  const until = resetsAt === null ? null : new Date(resetsAt).toISOString();
  const message =
    `A reply of the model was stopped after about ${tokens} tokens: the budget of this ${what} (${whose}) is used up; ` +
    (until === null ? `raise it, or start another ${what}.` : `it resets at ${until}.`);
  const unit = limit.tokens < Number.MAX_SAFE_INTEGER ? 'tokens' : 'cost';
  return new AppError('BUDGET_EXCEEDED', message, {
    details: { budget: name, ...(agent !== undefined && { agent }), unit, resets_at: until },
  });
}

/** Error of a rebuild of the totals while calls are in progress. */
export function budgetInUse(): AppError {
  const message =
    'Budgets cannot be rebuilt while runs execute, since their usage is not recorded yet. Nothing was changed; try again later.';
  return new AppError('BUDGET_IN_USE', message, { isRetryable: true });
}
