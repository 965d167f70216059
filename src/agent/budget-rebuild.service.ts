import { Inject, Injectable, Optional } from '@nestjs/common';
import { AppError } from '../common/index.js';
import { budgetInUse, ModelBudget, type AgentBudgets, type JournaledUsage } from '../llm/index.js';
import { RunUsageStore, type AgentUsage } from '../run/index.js';
import { AgentRegistry } from './agent.registry.js';

/** Brings the sums of budgets back to what the journal says, after a restore or a change of what is limited. */
@Injectable()
export class BudgetRebuildService {
  constructor(
    private readonly usages: RunUsageStore,
    private readonly agents: AgentRegistry,
    @Optional() @Inject(ModelBudget) private readonly budget?: ModelBudget | null,
  ) {}

  /**
   * @returns how many sums there are now
   * @throws AppError `REQUEST_REFUSED` when no budget is set, `BUDGET_IN_USE` when runs go on; nothing has changed then
   */
  async rebuild(): Promise<number> {
    const budgeted = this.budgeted();
    if (!this.budget || (!this.budget.isForAll && budgeted.size === 0)) {
      throw new AppError(
        'REQUEST_REFUSED',
        'There is no budget to count: set BUDGET_RUN, BUDGET_SESSION, BUDGET_TENANT_DAY or BUDGET_DAY, or an agent’s budgets.',
      );
    }
    if (!(await this.usages.isQuiet())) throw budgetInUse();
    return this.budget.rebuild(withBudgets(this.usages.usages(), budgeted));
  }

  /** The budgets that agents have now, by their names. */
  private budgeted(): ReadonlyMap<string, AgentBudgets> {
    return new Map(this.agents.list().flatMap(({ name, budgets }) => (budgets ? [[name, budgets] as const] : [])));
  }
}

/** What a run takes together with those that it calls stays as it is: it cannot be told from one call. */
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
