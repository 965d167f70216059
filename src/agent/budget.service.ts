import { Injectable } from '@nestjs/common';
import { AppError } from '../errors/index.js';
import type { Principal } from '../kernel/index.js';
import { budgetInUse, ModelBudget, type AgentBudgets, type BudgetStatus, type JournaledUsage } from '../llm/index.js';
import { RunUsageStore, type AgentUsage } from '../run/index.js';
import { hasScope } from '../security/index.js';
import { AgentRegistry } from './agent.registry.js';

/** The budgets of the server and of the agents, as people see and correct them. */
@Injectable()
export class BudgetService {
  constructor(
    private readonly usages: RunUsageStore,
    private readonly agents: AgentRegistry,
    private readonly budget: ModelBudget,
  ) {}

  /**
   * The budgets of the principal's tenant for the present day: the server's and those of agents. Budgets that all tenants share
   * are for operators.
   */
  async today(principal: Principal): Promise<readonly BudgetStatus[]> {
    const own = [...this.budgeted()].map(([agent, limits]) => ({ agent, runId: '', limits }));
    const budgets = await this.budget.today({ tenant: principal.tenant, own });
    return hasScope(principal, 'operate') ? budgets : budgets.filter(({ name }) => name !== 'day');
  }

  /**
   * Recomputes budget totals from the journal, after a restore or a change of the budgets.
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
