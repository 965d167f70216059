import { IsIn, IsString, Length, Matches } from 'class-validator';
import { IsCursor, TIME_PLACE } from './list-cursor.js';
import { Omittable } from './omittable.decorator.js';
import { TimesQueryDto, TimeRangeQueryDto } from './time-range-query.dto.js';
import { RunUsageDto } from './run-answer.dto.js';
import type { RunStatus } from '../run/index.js';

const STATUSES =
  /^(queued|running|waiting|completed|failed|cancelled)(,(queued|running|waiting|completed|failed|cancelled))*$/;

const IsRunKind = () =>
  Matches(/^[a-z][a-z0-9-]{0,31}$/, { message: 'kind must be a kind of runs, such as agent, workflow or tool' });

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

  /**
   * Kind of the runs: `agent`, `workflow` or `tool` (a direct call).
   * @example 'agent'
   */
  @Omittable()
  @IsRunKind()
  kind?: string;

  @Omittable()
  @IsString()
  sessionId?: string;

  /**
   * Code of the error of failed runs. Runs that failed before the upgrade to this version do not match.
   * @example 'MODEL_UNAVAILABLE'
   */
  @Omittable()
  @Matches(/^[A-Z][A-Z0-9_]{0,63}$/, { message: 'errorCode must be an error code, such as MODEL_UNAVAILABLE' })
  errorCode?: string;

  /** A part of the `query_preview`, in any letter case. */
  @Omittable()
  @IsString()
  @Length(1, 200)
  text?: string;

  /** The `next` of the previous page. */
  @Omittable()
  @IsCursor('runs', TIME_PLACE)
  cursor?: string;

  /** Maximum number of runs in the page. */
  declare limit?: number;
}

/** Options of the feed of changes. */
export class RunChangeQueryDto {
  /** `false`: the stream ends after the changes since `Last-Event-ID`. */
  @Omittable()
  @IsIn(['true', 'false'])
  follow?: 'true' | 'false' = 'true';
}

/** A run in a list. Times are epoch ms. */
export class ListedRunDto {
  run_id!: string;
  /** `agent`, `workflow` or `tool` (a direct call). */
  kind!: string;
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
  /** The error code of a failed run. */
  error_code!: string | null;
  /** The message of that error. */
  error_message?: string;
  /**
   * The first 200 UTF-16 units of the question; of a workflow run its input, of a direct call its arguments, as JSON. `null`
   * for runs from before the upgrade to this version, and after the deletion of the journal.
   */
  query_preview!: string | null;
  /** Number of decisions for which a waiting run waits; those of a child run count there. */
  pending!: number;
  /** Why an accepted run is queued again: its provider is unavailable, with the code of the error. */
  queued_reason?: string;
  /** Time of its next attempt. */
  next_attempt_at?: number;
  /** Present if the stored end or question of the run is damaged, and its fields are `null`. */
  is_damaged?: true;
}

/** A page of runs, newest first. */
export class RunPageDto {
  runs!: ListedRunDto[];
  /** The `cursor` of the next page; `null` on the last page. */
  next!: string | null;
  /** With `text`: creation time of the oldest run that was searched, epoch ms; `null` if none was. */
  searched_to?: number | null;
  /** With `text`: whether all runs that match the other filters were searched; else `next` continues the search. */
  is_search_complete?: boolean;
}

/** Selects the runs to count; by default those of the last 24 hours. */
export class RunCountsQueryDto extends TimesQueryDto {
  /** Name of an agent. */
  @Omittable()
  @IsString()
  agent?: string;

  /** Kind of the runs: `agent`, `workflow` or `tool` (a direct call). */
  @Omittable()
  @IsRunKind()
  kind?: string;
}

/** Numbers of runs by their status. */
export class StatusCountsDto {
  queued!: number;
  running!: number;
  waiting!: number;
  completed!: number;
  failed!: number;
  cancelled!: number;
}

/** Number of runs that failed with an error code. */
export class FailedCountDto {
  /** `null` for runs that failed before the upgrade to this version. */
  error_code!: string | null;
  count!: number;
}

/** Numbers of runs. */
export class RunCountsDto {
  /** Start of the range of the ended runs, epoch ms. */
  from!: number;
  by_status!: StatusCountsDto;
  /** The most frequent first. */
  failed!: FailedCountDto[];
  /** Whether all runs were counted: of each status 50,000 are counted at most. */
  is_complete!: boolean;
}
