import { Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { BudgetRebuildService, type PageRequest, RunHistoryService } from '../agent/index.js';
import { AppError } from '../errors/index.js';
import { fieldMistake, type Principal } from '../kernel/index.js';
import type { UsageEntry, UsageFilter, UsageKind, UsagePage, UsageSum } from '../run/index.js';
import { CurrentPrincipal, Requires } from '../security/index.js';
import { placeIn, toCursor } from './list-cursor.js';
import { RebuiltBudgetsDto, UsageDaysQueryDto, UsagePageDto, UsageQueryDto } from './usage.dto.js';

/** @param query validated */
function toUsageFilter({ from, to, sessionId }: UsageDaysQueryDto & Pick<UsageQueryDto, 'sessionId'>): UsageFilter {
  return {
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(sessionId !== undefined && { sessionId }),
  };
}

function toUsagePage(total: UsageSum, { entries, next }: UsagePage, kind: UsageKind): UsagePageDto {
  return { total, entries: entries.map(toEntry), next: toCursor('usage', next === null ? null : `${kind}:${next}`) };
}

/** @throws AppError `VALIDATION_FAILED` for the cursor of a page with another grouping */
function toUsagePlace(cursor: string | undefined, kind: UsageKind): string | undefined {
  const place = placeIn(cursor);
  if (place === undefined || place.startsWith(`${kind}:`)) return place?.slice(kind.length + 1);
  const message = `cursor must be the "next" of a page by ${kind}`;
  throw new AppError('VALIDATION_FAILED', `The request is not valid: ${message}.`, {
    details: { errors: [fieldMistake('cursor', message, 'isCursor', cursor)] },
  });
}

function toEntry({ key, calls, usage }: UsageEntry): UsagePageDto['entries'][number] {
  return { key: key === '' ? null : key, calls, usage };
}

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
