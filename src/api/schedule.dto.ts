import { IsBoolean, IsIn, IsInt, IsObject, IsString, Matches, Max, MaxLength, Min } from 'class-validator';
import { MAX_PRIORITY } from '../run/index.js';
import { MISSED_POLICIES, type MissedPolicy, OVERLAP_POLICIES, type OverlapPolicy } from '../schedule/index.js';
import { LONGEST_DEADLINE_MS } from './chat-request.dto.js';
import { IsId } from './is-id.decorator.js';
import { IsTime } from './is-time.decorator.js';
import { IsWholeNumber } from './is-whole-number.decorator.js';
import { IsCursor } from './list-cursor.js';
import { Omittable } from './omittable.decorator.js';
import { RawJson } from './raw-json.decorator.js';

/** Times and rules of a schedule. */
class ScheduleFieldsDto {
  /**
   * Cron expression with five fields: minute, hour, day of month, month, day of week. Or `@hourly`, `@daily`, `@weekly`,
   * `@monthly`, `@yearly`.
   * @example '0 9 * * 1-5'
   */
  @Omittable()
  @IsString()
  @MaxLength(128)
  cron?: string;

  /** A single time instead of `cron`: epoch ms, or ISO 8601 with a time zone. */
  @Omittable()
  @IsTime()
  at?: string;

  /**
   * IANA time zone of `cron`; by default UTC.
   * @example 'Europe/Berlin'
   */
  @Omittable()
  @IsString()
  @MaxLength(64)
  timeZone?: string;

  /** The message to the agent; not blank. */
  @Omittable()
  @IsString()
  @Matches(/\S/u, { message: 'query must not be blank' })
  query?: string;

  /** The input of the workflow. */
  @Omittable()
  @IsObject()
  @RawJson()
  input?: Record<string, unknown>;

  /** Priority of the runs in the queue, 0 to 9. */
  @Omittable()
  @IsInt()
  @Min(0)
  @Max(MAX_PRIORITY)
  priority?: number;

  /** Deadline of each run, in ms from its start. */
  @Omittable()
  @IsInt()
  @Min(1)
  @Max(LONGEST_DEADLINE_MS)
  deadlineMs?: number;

  /**
   * If the last run of the schedule has not ended: `skip` the time (the default), `allow` a further run, or `replace`:
   * cancel that run first.
   */
  @Omittable()
  @IsIn(OVERLAP_POLICIES)
  overlap?: OverlapPolicy;

  /**
   * Times that passed more than a minute ago, as after a stop: `once` starts one run for all (the default), `skip` none,
   * `all` one for each of the last 100.
   */
  @Omittable()
  @IsIn(MISSED_POLICIES)
  missed?: MissedPolicy;
}

/** A new schedule: of an agent with `query`, or of a workflow with `input`; with `cron` or `at`. */
export class ScheduleRequestDto extends ScheduleFieldsDto {
  /** Name of the agent; if it and `workflow` are omitted, the default agent. */
  @Omittable()
  @IsString()
  @Matches(/\S/u, { message: 'agent must not be blank' })
  @MaxLength(255)
  agent?: string;

  /** Session of all runs; without it each run of an agent has a new one. */
  @Omittable()
  @IsId()
  sessionId?: string;

  /** Name of the workflow. */
  @Omittable()
  @IsString()
  @Matches(/\S/u, { message: 'workflow must not be blank' })
  @MaxLength(255)
  workflow?: string;
}

/** Changes of a schedule; absent fields stay. `cron` and `at` replace each other. */
export class ScheduleChangeDto extends ScheduleFieldsDto {
  /** Whether times start runs. Enabled again, the schedule continues at its next time. */
  @Omittable()
  @IsBoolean()
  enabled?: boolean;
}

/** A schedule. Times are epoch ms. */
export class ScheduleDto {
  id!: string;
  /** `null` for a workflow. */
  agent!: string | null;
  workflow!: string | null;
  query?: string;
  input?: Record<string, unknown>;
  session_id?: string;
  priority?: number;
  deadline_ms?: number;
  cron!: string | null;
  at!: number | null;
  time_zone!: string;
  overlap!: OverlapPolicy;
  missed!: MissedPolicy;
  enabled!: boolean;
  /** `person`, `revoked` (the owner lost the right to chat) or `restored` (the database is a copy). */
  disabled_reason!: 'person' | 'revoked' | 'restored' | null;
  /** `null` without a further time. */
  next_at!: number | null;
  last_at!: number | null;
  last_run_id!: string | null;
  /** Outcome of the last time: a run `started`, was `skipped` by the overlap policy, `missed`, or its start `failed`. */
  last_outcome!: 'started' | 'skipped' | 'missed' | 'failed' | null;
  /** Error code of a failed start. */
  last_error!: string | null;
  /** Id of the principal with whose rights the runs execute. */
  owner!: string;
  created_at!: number;
}

/** Place in the list of schedules. */
export class ScheduleQueryDto {
  /** The `next` of the previous page. */
  @Omittable()
  @IsCursor('schedules', /^[\w-]{1,64}$/)
  cursor?: string;

  /** Maximum number of schedules in the page. */
  @Omittable()
  @IsWholeNumber(1, 200)
  limit?: number = 50;
}

/** A page of schedules, newest first. */
export class SchedulePageDto {
  schedules!: ScheduleDto[];
  /** The `cursor` of the next page; `null` on the last page. */
  next!: string | null;
}

/** A run that was started. */
export class ScheduledRunDto {
  run_id!: string;
}
