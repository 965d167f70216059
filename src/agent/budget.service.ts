import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AppError } from '../errors/index.js';
import type { Principal } from '../kernel/index.js';
import { budgetInUse, ModelBudget, type BudgetStatus, type JournaledUsage } from '../llm/budget/index.js';
import type { AgentBudgets } from '../llm/chat/index.js';
import { RunUsageStore, type AgentUsage } from '../run/usage/index.js';
import { hasScope } from '../security/index.js';
import { MetricRegistry, type Sample } from '../telemetry/index.js';
import { AgentRegistry } from './definition/agent.registry.js';

/** The budgets of the server and of the agents, as people see and correct them. */
@Injectable()
export class BudgetService implements OnModuleInit {
  constructor(
    private readonly usages: RunUsageStore,
    private readonly agents: AgentRegistry,
    private readonly budget: ModelBudget,
    private readonly metrics: MetricRegistry,
  ) {}

  onModuleInit(): void {
    this.metrics.collect(() => this.remaining());
  }

  /** Of the budgets that all tenants share: names of tenants are no labels. */
  private async remaining(): Promise<Sample[]> {
    const budgets = await this.budget.today({ tenant: '', own: this.own() });
    return budgets
      .filter(({ name }) => name === 'day')
      .flatMap(toSamples)
      .toSorted((a, b) => a[1] - b[1]);
  }

  /**
   * The budgets of the principal's tenant for the present day: the server's and those of agents. Budgets that all tenants share
   * are for operators.
   */
  async today(principal: Principal): Promise<readonly BudgetStatus[]> {
    const budgets = await this.budget.today({ tenant: principal.tenant, own: this.own() });
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

  private own() {
    return [...this.budgeted()].map(([agent, limits]) => ({ agent, runId: '', limits }));
  }

  /** Current budgets of the agents, by agent name. */
  private budgeted(): ReadonlyMap<string, AgentBudgets> {
    return new Map(this.agents.list().flatMap(({ name, budgets }) => (budgets ? [[name, budgets] as const] : [])));
  }
}

function toSamples({ agent = '', limit, used }: BudgetStatus): Sample[] {
  return (['tokens', 'cost'] as const).flatMap((unit) => {
    const most = limit[unit];
    if (most === undefined) return [];
    const left = most === 0 ? 0 : Math.max(1 - used[unit] / most, 0);
    return [['jackdaw_budget_remaining_ratio', left, { unit, agent }] as const];
  });
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
