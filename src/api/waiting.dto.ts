import { IsIn, IsString } from 'class-validator';
import { IsCursor } from './list-cursor.js';
import { IsWholeNumber } from './is-whole-number.decorator.js';
import { Omittable } from './omittable.decorator.js';
import { WaitingRequestDto } from './run-answer.dto.js';

const KINDS = ['approval', 'input', 'outcome_unknown', 'restored'] as const;

/** Filter of the waiting requests. */
export class WaitingQueryDto {
  /** Kind of the requests. */
  @Omittable()
  @IsIn(KINDS)
  kind?: (typeof KINDS)[number];

  /** Name of an agent. */
  @Omittable()
  @IsString()
  agent?: string;

  /** The `next` of the previous page. */
  @Omittable()
  @IsCursor('waiting', /^[\w-]{1,64}$/)
  cursor?: string;

  /** Maximum number of runs in the page; a run can have several requests. */
  @Omittable()
  @IsWholeNumber(1, 200)
  limit?: number = 50;
}

/** A request that waits for a person. Times are epoch ms. */
export class ListedRequestDto {
  run_id!: string;
  session_id!: string | null;
  agent!: string;
  /** Start of the run. */
  created_at!: number;
  waiting_since!: number;
  /** Whether the scopes of the caller and the approval rule permit a decision; policies are checked with the decision. */
  may_decide!: boolean;
  request!: WaitingRequestDto;
}

/** A page of requests, those of the oldest run first. */
export class WaitingPageDto {
  requests!: ListedRequestDto[];
  /** The `cursor` of the next page; `null` on the last page. */
  next!: string | null;
}
