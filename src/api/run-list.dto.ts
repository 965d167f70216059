import { IsString, Matches } from 'class-validator';
import { IsCursor, TIME_PLACE } from './list-cursor.js';
import { Omittable } from './omittable.decorator.js';
import { TimeRangeQueryDto } from './time-range-query.dto.js';
import { RunUsageDto } from './run-answer.dto.js';
import type { RunStatus } from '../run/index.js';

const STATUSES =
  /^(queued|running|waiting|completed|failed|cancelled)(,(queued|running|waiting|completed|failed|cancelled))*$/;

/** Filter of the list of runs. */
export class RunListQueryDto extends TimeRangeQueryDto {
  /**
   * One or more of `queued`, `running`, `waiting`, `completed`, `failed` and `cancelled`, comma-separated.
   * @example 'failed,cancelled'
   */
  @Omittable()
  @Matches(STATUSES, {
    message: 'status must be one or more of queued, running, waiting, completed, failed, cancelled, comma-separated',
  })
  status?: string;

  /** Name of an agent. */
  @Omittable()
  @IsString()
  agent?: string;

  @Omittable()
  @IsString()
  sessionId?: string;

  /** The `next` of the previous page. */
  @Omittable()
  @IsCursor('runs', TIME_PLACE)
  cursor?: string;

  /** Maximum number of runs in the page. */
  declare limit?: number;
}

/** A run in a list. Times are epoch ms. */
export class ListedRunDto {
  run_id!: string;
  status!: RunStatus;
  agent!: string;
  session_id!: string | null;
  created_at!: number;
  /** `null` for an unfinished run. */
  finished_at!: number | null;
  /** The original run of a fork. */
  forked_from!: string | null;
  /** The parent run; `null` for a run without one. */
  parent_run_id!: string | null;
  /** Time of the deletion of its journal; only these fields remain. */
  pruned_at!: number | null;
  /** `null` for an unfinished run. */
  finish_reason!: string | null;
  /** `null` for an unfinished run. */
  usage!: RunUsageDto | null;
  /** Why an accepted run is queued again: its provider is unavailable, with the code of the error. */
  queued_reason?: string;
  /** Time of its next attempt. */
  next_attempt_at?: number;
  /** Present if the stored end of the run is damaged: its reason and usage are unknown. */
  is_damaged?: true;
}

/** A page of runs, newest first. */
export class RunPageDto {
  runs!: ListedRunDto[];
  /** The `cursor` of the next page; `null` on the last page. */
  next!: string | null;
}
