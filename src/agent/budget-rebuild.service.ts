import { Inject, Injectable, Optional } from '@nestjs/common';
import { AppError } from '../common/index.js';
import { budgetInUse, ModelBudget } from '../llm/index.js';
import { RunUsageStore } from '../run/index.js';

/** Brings the sums of budgets back to what the journal says, after a restore or a change of what is limited. */
@Injectable()
export class BudgetRebuildService {
  constructor(
    private readonly usages: RunUsageStore,
    @Optional() @Inject(ModelBudget) private readonly budget?: ModelBudget | null,
  ) {}

  /**
   * @returns how many sums there are now
   * @throws AppError `REQUEST_REFUSED` when no budget is set, `BUDGET_IN_USE` when runs go on; nothing has changed then
   */
  async rebuild(): Promise<number> {
    if (!this.budget) {
      throw new AppError(
        'REQUEST_REFUSED',
        'There is no budget to count: set BUDGET_RUN, BUDGET_SESSION, BUDGET_TENANT_DAY or BUDGET_DAY.',
      );
    }
    if (!(await this.usages.isQuiet())) throw budgetInUse();
    return this.budget.rebuild(this.usages.usages());
  }
}
