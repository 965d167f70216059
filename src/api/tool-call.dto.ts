import { IsInt, IsObject, Matches, Max, Min } from 'class-validator';
import { AsItCame } from './as-it-came.decorator.js';
import { LONGEST_DEADLINE_MS } from './background-request.dto.js';
import { MayBeLeftOut } from './may-be-left-out.decorator.js';
import { ToldImageDto, WaitingRequestDto } from './run-answer.dto.js';

/** A call of a tool. */
export class ToolCallDto {
  /** What the tool takes; none when it is left out. */
  @MayBeLeftOut()
  @IsObject()
  @AsItCame()
  arguments?: Record<string, unknown>;

  /** The session that the tool works in, which must be there; the call holds it while it runs, and says nothing in it. */
  @MayBeLeftOut()
  @Matches(/^[A-Za-z0-9_-]{1,128}$/, { message: 'sessionId must be 1 to 128 of A-Z a-z 0-9 _ -' })
  sessionId?: string;

  /** Milliseconds from now after which the call goes on no more. */
  @MayBeLeftOut()
  @IsInt()
  @Min(1)
  @Max(LONGEST_DEADLINE_MS)
  deadlineMs?: number;
}

/** What came of a call so far. A call that failed is an answer, too: it was made, and `success` says how it went. */
export class ToolCallAnswerDto {
  /** The call is a run of its own: `GET /api/runs/{id}` tells of it. */
  run_id!: string;
  session_id!: string | null;
  tool!: string;
  /** `completed`, `failed` or `cancelled`; `waiting` for a person, or `queued`. */
  status!: string;
  /** Once there is an outcome. */
  success?: boolean;
  /** What the tool gave, when it succeeded. */
  result?: unknown;
  /** Of what it shows beside that; the run's journal has the images whole. */
  images?: ToldImageDto[];
  /** How many images more it had than a result may show. */
  images_left_out?: number;
  /** Why it did not succeed. */
  error?: string;
  /** The stable name of the error. */
  code?: string;
  execution_time_ms?: number;
  /** What must be decided before it goes on; only while it is `waiting`. */
  waiting?: WaitingRequestDto[];
}
