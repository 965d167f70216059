import { Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { BudgetRebuildService } from '../agent/index.js';
import type { Principal } from '../kernel/index.js';
import { RunUsageStore, type UsageFilter, type UsageKind } from '../run/index.js';
import { CurrentPrincipal, Requires } from '../security/index.js';
import { RebuiltBudgetsDto, UsageDaysQueryDto, UsagePageDto, UsageQueryDto } from './usage.dto.js';
import { toUsageFilter, toUsagePage, toUsagePlace } from './usage.mapper.js';

@Controller('usage')
export class UsageController {
  constructor(
    private readonly usages: RunUsageStore,
    private readonly budgets: BudgetRebuildService,
  ) {}

  /** Tokens and costs of the model calls that the caller may see, by day, session or model. */
  @Get()
  @Requires('usage:read')
  own(@CurrentPrincipal() principal: Principal, @Query() query: UsageQueryDto): Promise<UsagePageDto> {
    return this.page({ ...toUsageFilter(query), principal }, query.by ?? 'day', query);
  }

  /** Tokens and costs of all tenants, by tenant; for operators. */
  @Get('tenants')
  @Requires('operate')
  tenants(@Query() query: UsageDaysQueryDto): Promise<UsagePageDto> {
    return this.page(toUsageFilter(query), 'tenant', query);
  }

  /** Recalculates all budget totals from the recorded usage. 409 while runs execute; 400 if there is no budget. */
  @Post('rebuild')
  @HttpCode(200)
  @Requires('operate')
  async rebuild(): Promise<RebuiltBudgetsDto> {
    return { sums: await this.budgets.rebuild() };
  }

  private async page(
    filter: UsageFilter,
    kind: UsageKind,
    { limit = 50, cursor }: UsageDaysQueryDto,
  ): Promise<UsagePageDto> {
    const after = toUsagePlace(cursor, kind);
    const [total, page] = await Promise.all([this.usages.total(filter), this.usages.page(filter, kind, limit, after)]);
    return toUsagePage(total, page, kind);
  }
}
