import { IsIn, IsString } from 'class-validator';
import { IsDay } from './is-time.decorator.js';
import { IsCursor } from './list-cursor.js';
import { Omittable } from './omittable.decorator.js';
import { LimitQueryDto } from './page-query.dto.js';
import { RunUsageDto } from './run-answer.dto.js';

const KINDS = ['day', 'session', 'agent', 'model'] as const;

/** Selects the days of the summed usage. */
export class UsageDaysQueryDto extends LimitQueryDto {
  /**
   * The first day, UTC.
   * @example '2027-01-01'
   */
  @Omittable()
  @IsDay()
  from?: string;

  /**
   * The last day, UTC.
   * @example '2027-01-31'
   */
  @Omittable()
  @IsDay()
  to?: string;

  /** The `next` of the previous page. */
  @Omittable()
  @IsCursor('usage', /^(?:day|session|agent|model|tenant):/)
  cursor?: string;
}

/** Selects and groups the usage of the tenant. */
export class UsageQueryDto extends UsageDaysQueryDto {
  /** Grouping: `day` (the default), `session`, `agent` or `model`. */
  @Omittable()
  @IsIn(KINDS)
  by?: (typeof KINDS)[number] = 'day';

  /** Id of a session. */
  @Omittable()
  @IsString()
  sessionId?: string;

  /** Name of an agent. */
  @Omittable()
  @IsString()
  agent?: string;

  /** Name of a model, as its provider reports it. */
  @Omittable()
  @IsString()
  model?: string;
}

/** Total usage of model calls. */
export class UsageSumDto {
  /** Number of calls whose provider reported its usage. */
  calls!: number;
  usage!: RunUsageDto;
}

/** Total usage of one day, session, agent, model or tenant. */
export class UsageEntryDto extends UsageSumDto {
  /** The day (UTC), the session's id, the name of the agent, model or tenant; `null` for calls without a session or agent. */
  key!: string | null;
}

/** Usage within the retention time (`USAGE_RETENTION_DAYS`). */
export class UsagePageDto {
  /** Total over the entries of all pages. */
  total!: UsageSumDto;
  /** In the order of their keys. */
  entries!: UsageEntryDto[];
  /** The `cursor` of the next page; `null` on the last page. */
  next!: string | null;
}

/** Estimated percentiles, in ms: linear within a bucket; the last bound for longer calls. */
export class PercentilesDto {
  p50!: number;
  p90!: number;
  p95!: number;
  p99!: number;
}

/** A histogram of durations. */
export class LatencyDto {
  /** Number of calls with a known duration. */
  calls!: number;
  /** Calls per bucket: one number for each of `bounds_ms`, and one for longer calls. */
  counts!: number[];
  /** `null` without calls. */
  percentiles!: PercentilesDto | null;
}

/** Durations of model calls, with retries. */
export class CallLatencyDto {
  duration!: LatencyDto;
  /** Time to the first text of streamed replies. */
  first_token!: LatencyDto;
}

/** Durations of the model calls of one day, session, agent or model. */
export class LatencyEntryDto extends CallLatencyDto {
  /** As in the usage. */
  key!: string | null;
}

/** Durations within the retention time (`USAGE_RETENTION_DAYS`); calls from before the upgrade to this version are not counted. */
export class LatencyPageDto {
  /** Upper bounds of the buckets, in ms. */
  bounds_ms!: number[];
  /** Over the entries of all pages. */
  total!: CallLatencyDto;
  /** In the order of their keys. */
  entries!: LatencyEntryDto[];
  /** The `cursor` of the next page; `null` on the last page. */
  next!: string | null;
}

/** An amount of a budget; a unit without a limit is absent. */
export class BudgetAmountDto {
  tokens?: number;
  /** In the unit of `LLM_PRICES`. */
  cost?: number;
}

/** A budget of the present day. */
export class BudgetDto {
  /** `tenant_day`: of the caller's tenant; `day`: of all tenants. */
  name!: 'tenant_day' | 'day';
  /** The agent that has the budget; `null` for a budget of the server. */
  agent!: string | null;
  limit!: BudgetAmountDto;
  /** What calls have used, or reserved while they last. */
  used!: BudgetAmountDto;
  remaining!: BudgetAmountDto;
  /** Start of the next day, UTC, epoch ms. */
  resets_at!: number;
}

/** The budgets of the present day. */
export class BudgetListDto {
  budgets!: BudgetDto[];
}

/** Result of a budget recalculation. */
export class RebuiltBudgetsDto {
  /** Number of totals now stored: one for each unfinished run, session, tenant and day, and day that has a budget. */
  sums!: number;
}
