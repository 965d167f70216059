import { Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { BudgetRebuildService, type PageRequest, RunHistoryService } from '../agent/index.js';
import type { Principal } from '../kernel/index.js';
import type { UsageKind } from '../run/index.js';
import { CurrentPrincipal, Requires } from '../security/index.js';
import { RebuiltBudgetsDto, UsageDaysQueryDto, UsagePageDto, UsageQueryDto } from './usage.dto.js';
import { toUsageFilter, toUsagePage, toUsagePlace } from './usage.mapper.js';

@Controller('usage')
export class UsageController {
  constructor(
    private readonly history: RunHistoryService,
    private readonly budgets: BudgetRebuildService,
  ) {}

  /** Tokens and costs of the model calls that the caller may see, by day, session or model. */
  @Get()
  @Requires('usage:read')
  async own(@CurrentPrincipal() principal: Principal, @Query() query: UsageQueryDto): Promise<UsagePageDto> {
    const { by = 'day' } = query;
    const report = await this.history.usage(principal, { ...toUsageFilter(query), ...pageOf(query, by), by });
    return toUsagePage(report.total, report, by);
  }

  /** Tokens and costs of all tenants, by tenant; for operators. */
  @Get('tenants')
  @Requires('operate')
  async tenants(@Query() query: UsageDaysQueryDto): Promise<UsagePageDto> {
    const report = await this.history.usageOfTenants({ ...toUsageFilter(query), ...pageOf(query, 'tenant') });
    return toUsagePage(report.total, report, 'tenant');
  }

  /** Recalculates all budget totals from the recorded usage. 409 while runs execute; 400 if there is no budget. */
  @Post('rebuild')
  @HttpCode(200)
  @Requires('operate')
  async rebuild(): Promise<RebuiltBudgetsDto> {
    return { sums: await this.budgets.rebuild() };
  }
}

function pageOf({ limit = 50, cursor }: UsageDaysQueryDto, kind: UsageKind): PageRequest {
  const after = toUsagePlace(cursor, kind);
  return { limit, ...(after !== undefined && { after }) };
}
