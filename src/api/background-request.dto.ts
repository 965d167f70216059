import { IsInt, IsString, Matches, Max, Min } from 'class-validator';
import { MAX_PRIORITY } from '../run/index.js';
import { MayBeLeftOut } from './may-be-left-out.decorator.js';

const DAY_MS = 86_400_000;
/** A month: as far ahead as a deadline may be. */
const LONGEST_DEADLINE_MS = 30 * DAY_MS;

/** A question to an agent that nobody waits for. */
export class BackgroundRequestDto {
  /** What the user says; not blank. */
  @IsString()
  @Matches(/\S/u, { message: 'query must not be blank' })
  query!: string;

  /** The conversation it belongs to; a new one is begun when it is left out or not known yet. */
  @MayBeLeftOut()
  @Matches(/^[A-Za-z0-9_-]{1,128}$/, { message: 'sessionId must be 1 to 128 of A-Z a-z 0-9 _ -' })
  sessionId?: string;

  /** The agent that is asked; the default one when it is left out. */
  @MayBeLeftOut()
  @IsString()
  agent?: string;

  /** 0 to 9: of runs that wait for their turn, the higher goes first. */
  @MayBeLeftOut()
  @IsInt()
  @Min(0)
  @Max(MAX_PRIORITY)
  priority?: number = 0;

  /** Milliseconds from now after which the run goes on no more. */
  @MayBeLeftOut()
  @IsInt()
  @Min(1)
  @Max(LONGEST_DEADLINE_MS)
  deadlineMs?: number;
}
