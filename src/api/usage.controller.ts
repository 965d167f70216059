import { Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { BudgetService } from '../agent/index.js';
import { type PageRequest, RunHistoryService } from '../agent/history/index.js';
import { AppError } from '../errors/index.js';
import { fieldMistake, type Principal } from '../kernel/index.js';
import type { BudgetStatus } from '../llm/budget/index.js';
import { roundCost } from '../llm/models/index.js';
import {
  type CallLatency,
  LATENCY_BUCKETS_MS,
  type UsageEntry,
  type UsageFilter,
  type UsageKind,
  type UsagePage,
  type UsageSum,
} from '../run/usage/index.js';
import { CurrentPrincipal, Requires } from '../security/index.js';
import { placeIn, toCursor } from './list-cursor.js';
import {
  type BudgetDto,
  BudgetListDto,
  type CallLatencyDto,
  LatencyPageDto,
  RebuiltBudgetsDto,
  UsageDaysQueryDto,
  UsagePageDto,
  UsageQueryDto,
} from './usage.dto.js';

/** @param query validated */
function toUsageFilter({ from, to, sessionId, agent, model }: Partial<UsageQueryDto>): UsageFilter {
  return {
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(sessionId !== undefined && { sessionId }),
    ...(agent !== undefined && { agent }),
    ...(model !== undefined && { model }),
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

function toCallLatency({ duration, firstToken }: CallLatency): CallLatencyDto {
  return {
    duration: { ...duration, counts: [...duration.counts] },
    first_token: { ...firstToken, counts: [...firstToken.counts] },
  };
}

function toBudget({ name, agent, limit, used, resetsAt }: BudgetStatus): BudgetDto {
  return {
    name: name as BudgetDto['name'],
    agent: agent ?? null,
    limit,
    used,
    remaining: {
      ...(limit.tokens !== undefined && { tokens: Math.max(0, limit.tokens - used.tokens) }),
      ...(limit.cost !== undefined && { cost: roundCost(Math.max(0, limit.cost - used.cost)) }),
    },
    resets_at: resetsAt,
  };
}

@Controller('usage')
export class UsageController {
  constructor(
    private readonly history: RunHistoryService,
    private readonly budgets: BudgetService,
  ) {}

  /** Tokens and costs of the model calls that the caller may see, by day, session, agent or model. */
  @Get()
  @Requires('usage:read')
  async own(@CurrentPrincipal() principal: Principal, @Query() query: UsageQueryDto): Promise<UsagePageDto> {
    const { by = 'day' } = query;
    const report = await this.history.usage(principal, { ...toUsageFilter(query), ...pageOf(query, by), by });
    return toUsagePage(report.total, report, by);
  }

  /** Durations of the model calls that the caller may see, and times to the first text, by day, session, agent or model. */
  @Get('latency')
  @Requires('usage:read')
  async latency(@CurrentPrincipal() principal: Principal, @Query() query: UsageQueryDto): Promise<LatencyPageDto> {
    const { by = 'day' } = query;
    const report = await this.history.latency(principal, { ...toUsageFilter(query), ...pageOf(query, by), by });
    const entries = report.entries.map(({ key, ...latency }) =>
      Object.assign(toCallLatency(latency), { key: key === '' ? null : key }),
    );
    const next = toCursor('usage', report.next === null ? null : `${by}:${report.next}`);
    return { bounds_ms: [...LATENCY_BUCKETS_MS], total: toCallLatency(report.total), entries, next };
  }

  /** Tokens and costs of all tenants, by tenant; for operators. */
  @Get('tenants')
  @Requires('operate')
  async tenants(@Query() query: UsageDaysQueryDto): Promise<UsagePageDto> {
    const report = await this.history.usageOfTenants({ ...toUsageFilter(query), ...pageOf(query, 'tenant') });
    return toUsagePage(report.total, report, 'tenant');
  }

  /**
   * The budgets of the present day (UTC) for the caller's tenant, of the server and of agents, with the used and the
   * remaining amounts. Budgets that all tenants share are for operators.
   */
  @Get('budgets')
  @Requires('usage:read')
  async today(@CurrentPrincipal() principal: Principal): Promise<BudgetListDto> {
    return { budgets: (await this.budgets.today(principal)).map(toBudget) };
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
