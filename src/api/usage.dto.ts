import { IsIn, IsString } from 'class-validator';
import { IsDay } from './is-time.decorator.js';
import { MayBeLeftOut } from './may-be-left-out.decorator.js';
import { LimitQueryDto } from './page-query.dto.js';
import { RunUsageDto } from './run-answer.dto.js';

const KINDS = ['day', 'session', 'model'] as const;

/** Of which days the use of models is summed up. */
export class UsageDaysQueryDto extends LimitQueryDto {
  /**
   * The first day, UTC.
   * @example '2027-01-01'
   */
  @MayBeLeftOut()
  @IsDay()
  from?: string;

  /**
   * The last day, UTC.
   * @example '2027-01-31'
   */
  @MayBeLeftOut()
  @IsDay()
  to?: string;

  /** The `next` of the page before. */
  @MayBeLeftOut()
  @IsString()
  cursor?: string;
}

/** How the use of models in the tenant is summed up. */
export class UsageQueryDto extends UsageDaysQueryDto {
  /** Of which there is an entry each: `day` (the default), `session` or `model`. */
  @MayBeLeftOut()
  @IsIn(KINDS)
  by?: (typeof KINDS)[number] = 'day';

  /** Of one session only. */
  @MayBeLeftOut()
  @IsString()
  sessionId?: string;
}

/** What model calls took together. */
export class UsageSumDto {
  /** Calls whose provider said what they took. */
  calls!: number;
  usage!: RunUsageDto;
}

/** The sum of one day, session, model or tenant. */
export class UsageEntryDto extends UsageSumDto {
  /** The day (UTC), the session's id, the model's or the tenant's name; `null` for calls that belong to no session. */
  key!: string | null;
}

/** What was used, from the days that are kept (`USAGE_RETENTION_DAYS`). */
export class UsagePageDto {
  /** Of all entries, those of other pages too. */
  total!: UsageSumDto;
  /** By their keys. */
  entries!: UsageEntryDto[];
  /** What to give as `cursor` for the next page; `null` on the last one. */
  next!: string | null;
}

/** What came of counting anew. */
export class RebuiltBudgetsDto {
  /** How many sums there are now: one a run that is not over, session, tenant and day, and day, as far as these have budgets. */
  sums!: number;
}
