import { Injectable } from '@nestjs/common';
import { AppError } from '../errors/index.js';
import { budgetInUse, ModelBudget, type AgentBudgets, type JournaledUsage } from '../llm/index.js';
import { RunUsageStore, type AgentUsage } from '../run/index.js';
import { AgentRegistry } from './agent.registry.js';

/** Recomputes budget totals from the journal, after a restore or a change of the budgets. */
@Injectable()
export class BudgetRebuildService {
  constructor(
    private readonly usages: RunUsageStore,
    private readonly agents: AgentRegistry,
    private readonly budget: ModelBudget,
  ) {}

  /**
   * @returns the number of totals after the rebuild
   * @throws AppError `REQUEST_REFUSED` when no budget is set, `BUDGET_IN_USE` while runs execute; both change nothing
   */
  async rebuild(): Promise<number> {
    const budgeted = this.budgeted();
    if (!this.budget.isForAll && budgeted.size === 0) {
      throw new AppError(
        'REQUEST_REFUSED',
        'There is no budget to count: set BUDGET_RUN, BUDGET_SESSION, BUDGET_TENANT_DAY or BUDGET_DAY, or an agent’s budgets.',
      );
    }
    if (!(await this.usages.isQuiet())) throw budgetInUse();
    return this.budget.rebuild(withBudgets(this.usages.usages(), budgeted));
  }

  /** Current budgets of the agents, by agent name. */
  private budgeted(): ReadonlyMap<string, AgentBudgets> {
    return new Map(this.agents.list().flatMap(({ name, budgets }) => (budgets ? [[name, budgets] as const] : [])));
  }
}

/** Totals of run budgets are not rebuilt: one call does not show which parent runs share its budget. */
async function* withBudgets(
  usages: AsyncIterable<AgentUsage>,
  budgeted: ReadonlyMap<string, AgentBudgets>,
): AsyncGenerator<JournaledUsage, void> {
  for await (const { agent, ...usage } of usages) {
    const { run: _run, ...limits } = budgeted.get(agent ?? '') ?? {};
    const { runId } = usage.account;
    const own = agent === null ? [] : [{ agent, runId, limits }];
    yield { ...usage, account: { ...usage.account, own } };
  }
}
