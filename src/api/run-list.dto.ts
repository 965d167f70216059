import { IsString, Matches } from 'class-validator';
import { MayBeLeftOut } from './may-be-left-out.decorator.js';
import { TimeRangeQueryDto } from './time-range-query.dto.js';
import { RunUsageDto } from './run-answer.dto.js';

const STATUSES =
  /^(queued|running|waiting|completed|failed|cancelled)(,(queued|running|waiting|completed|failed|cancelled))*$/;

/** Which runs are listed. */
export class RunListQueryDto extends TimeRangeQueryDto {
  /**
   * One or more of `queued`, `running`, `waiting`, `completed`, `failed` and `cancelled`, comma-separated.
   * @example 'failed,cancelled'
   */
  @MayBeLeftOut()
  @Matches(STATUSES, {
    message: 'status must be one or more of queued, running, waiting, completed, failed, cancelled, comma-separated',
  })
  status?: string;

  /** An agent's name. */
  @MayBeLeftOut()
  @IsString()
  agent?: string;

  @MayBeLeftOut()
  @IsString()
  sessionId?: string;

  /** The most runs the page may have. */
  declare limit?: number;
}

/** A run in a list. Times are epoch ms. */
export class ListedRunDto {
  run_id!: string;
  /** `queued`, `running`, `waiting`, `completed`, `failed` or `cancelled`. */
  status!: string;
  agent!: string;
  session_id!: string | null;
  created_at!: number;
  /** `null` while it has not ended. */
  finished_at!: number | null;
  /** The run that it is a fork of. */
  forked_from!: string | null;
  /** The run that called it; `null` for one that somebody began. */
  parent_run_id!: string | null;
  /** When its journal was deleted: no more than this is left of it. */
  pruned_at!: number | null;
  /** `null` while it has not ended. */
  finish_reason!: string | null;
  /** `null` while it has not ended. */
  usage!: RunUsageDto | null;
}

/** A page of runs, the newest first. */
export class RunPageDto {
  runs!: ListedRunDto[];
  /** What to give as `cursor` for the next page; `null` on the last one. */
  next!: string | null;
}
