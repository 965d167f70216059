import { IsIn, IsString } from 'class-validator';
import { IsDay } from './is-time.decorator.js';
import { IsCursor } from './list-cursor.js';
import { Omittable } from './omittable.decorator.js';
import { LimitQueryDto } from './page-query.dto.js';
import { RunUsageDto } from './run-answer.dto.js';

const KINDS = ['day', 'session', 'model'] as const;

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
  @IsCursor('usage', /^(?:day|session|model|tenant):/)
  cursor?: string;
}

/** Selects and groups the usage of the tenant. */
export class UsageQueryDto extends UsageDaysQueryDto {
  /** Grouping: `day` (the default), `session` or `model`. */
  @Omittable()
  @IsIn(KINDS)
  by?: (typeof KINDS)[number] = 'day';

  /** Id of a session. */
  @Omittable()
  @IsString()
  sessionId?: string;
}

/** Total usage of model calls. */
export class UsageSumDto {
  /** Number of calls whose provider reported its usage. */
  calls!: number;
  usage!: RunUsageDto;
}

/** Total usage of one day, session, model or tenant. */
export class UsageEntryDto extends UsageSumDto {
  /** The day (UTC), the session's id, the model's or the tenant's name; `null` for calls without a session. */
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

/** Result of a budget recalculation. */
export class RebuiltBudgetsDto {
  /** Number of totals now stored: one for each unfinished run, session, tenant and day, and day that has a budget. */
  sums!: number;
}
